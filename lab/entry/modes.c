/* Settings of entries that depend on the processor, or on the program that is about to run. */
#include "entry/entry.h"

_Static_assert(offsetof(struct frame, rax) == FRAME_RAX, "SERVE");
_Static_assert(offsetof(struct frame, vector) == FRAME_VECTOR, "SAVE_ALL");
_Static_assert(offsetof(struct frame, rip) == FRAME_RIP, "enter_user");
_Static_assert(offsetof(struct frame, cs) == FRAME_CS, "exception");

void exceptions_serve(int serve, int bits)
{
	if (serve) {
		gate_to_path(VECTOR_DIVIDE, bits == 64 ? path_div0_x86_64 : path_div0_i386, 0);
		gate_to_path(VECTOR_BREAKPOINT, bits == 64 ? path_int3_x86_64 : path_int3_i386, 0);
		gate_to_path(VECTOR_INVALID, bits == 64 ? path_ud_x86_64 : path_ud_i386, 0);
	} else {
		gate_to_stub(VECTOR_DIVIDE);
		gate_to_stub(VECTOR_BREAKPOINT);
		gate_to_stub(VECTOR_INVALID);
	}
}

void sysenter_from(int bits)
{
	if (!cpu.has_sysenter)
		return;
	wrmsr(MSR_SYSENTER_CS, SELECTOR_KERNEL_CODE);
	wrmsr(MSR_SYSENTER_ESP, (uint64_t)kernel_stack_top);
	wrmsr(MSR_SYSENTER_EIP, bits == 64 ? path_sysenter_x86_64 : path_sysenter_i386);
}

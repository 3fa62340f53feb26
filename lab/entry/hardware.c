/*
 * Where the hardware finds the paths: the only place that points registers, gates and the exceptions that serve as system
 * calls at them.
 */
#include "cpu/tss.h"
#include "entry/entry.h"
#include "entry/rings.h"

_Static_assert(offsetof(struct frame, ax) == FRAME_RAX, "RESTORE");
_Static_assert(offsetof(struct frame, bp) == FRAME_RBP && offsetof(struct frame, bx) == FRAME_RBX &&
		   offsetof(struct frame, r10) == FRAME_R10 && offsetof(struct frame, r9) == FRAME_R9 &&
		   offsetof(struct frame, r8) == FRAME_R8 && offsetof(struct frame, cx) == FRAME_RCX &&
		   offsetof(struct frame, dx) == FRAME_RDX && offsetof(struct frame, si) == FRAME_RSI &&
		   offsetof(struct frame, di) == FRAME_RDI,
	       "arguments");
_Static_assert(offsetof(struct frame, vector) == FRAME_VECTOR, "SAVE_ALL");
_Static_assert(offsetof(struct frame, ip) == FRAME_RIP, "enter_user");
_Static_assert(offsetof(struct frame, cs) == FRAME_CS, "exception");
_Static_assert(sizeof(struct frame) == FRAME_WORDS * 8, "COPY_WHOLE_FRAME");
_Static_assert(PATH_ROOM < PATH_SLOT && 4096 % PATH_SLOT == 0, "a path is in one page");

/* The program that runs, or is about to. */
static int program_bits = 64, exceptions_serve;

static void point_fast_calls(void)
{
	wrmsr(MSR_STAR, STAR_VALUE);
	wrmsr(MSR_LSTAR, path_syscall_x86_64);
	wrmsr(MSR_CSTAR, path_syscall_i386);
	wrmsr(MSR_FMASK, RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_AC);
	if (!cpu.has_sysenter)
		return;
	wrmsr(MSR_SYSENTER_CS, SELECTOR_KERNEL_CODE);
	wrmsr(MSR_SYSENTER_ESP, kernel_stack);
}

static void point_exception(unsigned vector, word x86_64, word i386)
{
	if (exceptions_serve)
		gate_to_path(vector, program_bits == 64 ? x86_64 : i386, 0);
	else
		gate_to_stub(vector);
}

/* What depends on the program. */
static void point_for_program(void)
{
	/* sysenter saves nothing, so its path must know the program's bitness. */
	if (cpu.has_sysenter)
		wrmsr(MSR_SYSENTER_EIP, program_bits == 64 ? path_sysenter_x86_64 : path_sysenter_i386);
	point_exception(VECTOR_DIVIDE, path_div0_x86_64, path_div0_i386);
	point_exception(VECTOR_BREAKPOINT, path_int3_x86_64, path_int3_i386);
	point_exception(VECTOR_INVALID, path_ud_x86_64, path_ud_i386);
	gate_opens(exceptions_serve);
}

void hardware_point_page_faults(int with_programs_tables)
{
	if (configured[SWITCH_ORDER] == ORDER_LAB || with_programs_tables)
		gate_to_stub(VECTOR_PAGE_FAULT);
	else
		gate_to_path(VECTOR_PAGE_FAULT, path_page_fault, 0);
}

void hardware_point(void)
{
	point_fast_calls();
	gate_to_path(VECTOR_INT80, path_int80, configured[SWITCH_GATE] == GATE_TRAP);
	gates_to_paths(path_call_gate_x86_64, path_call_gate_i386);
	rings_point();
	hardware_point_page_faults(0);
	point_for_program();
}

void hardware_point_to_stacks(word kernel, word entry, word ring1)
{
	tss_set_stacks(entry, ring1);
	kernel_stack = kernel;
	entry_stack = entry;
	/* A stack that programs' page tables map, as Linux has it; the path switches to the other. */
	if (cpu.has_sysenter)
		wrmsr(MSR_SYSENTER_ESP, configured[SWITCH_PTI] == PTI_OFF ? kernel : entry);
}

void hardware_point_for(int bits, int serve)
{
	if (program_bits == bits && exceptions_serve == serve)
		return;
	program_bits = bits;
	exceptions_serve = serve;
	point_for_program();
}

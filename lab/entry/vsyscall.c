/*
 * The fixed page at 0xffffffffff600000, four ways (the switch `vsyscall`):
 *
 *	original	code and time data, no kernel entry at all (x86-64 Linux 2.4 to 3.0)
 *	native		each function is mov number; syscall; ret (Linux 3.1 to 4.16, vsyscall=native)
 *	emulate		not executable: fetching from it is a page fault, error code 0x15, that the kernel answers
 *	none		absent
 *
 * A processor without NX cannot refuse to execute a page that may be read. There, emulate maps nothing, as Linux's
 * vsyscall=xonly does: the functions work, and reading the page is a fault.
 *
 * For emulation the hardware has: switched to the entry stack, pushed ss, rsp, rflags, cs, rip and the error code; cr2 is
 * rip. The return address is on the program's stack, as after a call of the function.
 */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"
#include "user/user.h"
#include "vdso/images.h"
#include "vdso/vsyscall.h"

uint8_t vsyscall_original_page[PAGE] __attribute__((aligned(4096)));

void vsyscall_init(void)
{
	__builtin_memcpy(vsyscall_original_page, vsyscall_original_image, VSYSCALL_TIME_OFFSET);
	/* The tables of that address are made before programs share them. */
	tables_map(VSYSCALL_ADDRESS, kernel_to_physical((word)vsyscall_native_image), MAP_USER);
	tables_unmap(VSYSCALL_ADDRESS);
}

void vsyscall_configure(unsigned value)
{
	const uint64_t native = kernel_to_physical((word)vsyscall_native_image);
	const uint64_t original = kernel_to_physical((word)vsyscall_original_page);

	tables_unmap(VSYSCALL_ADDRESS);
	if (value == VSYSCALL_EMULATE && cpu_has(FEATURE_NX))
		tables_map(VSYSCALL_ADDRESS, native, MAP_USER); /* readable, as in Linux; not executable */
	else if (value == VSYSCALL_NATIVE)
		tables_map(VSYSCALL_ADDRESS, native, MAP_USER | MAP_EXECUTE);
	else if (value == VSYSCALL_ORIGINAL)
		tables_map(VSYSCALL_ADDRESS, original, MAP_USER | MAP_EXECUTE);
	tables_flush_kernel();
}

static long serve(const struct frame *frame, uint64_t offset)
{
	switch (offset) {
	case VSYSCALL_GETTIMEOFDAY:
		return call_gettimeofday(frame->di, frame->si);
	case VSYSCALL_TIME:
		return call_time(frame->di);
	default:
		return call_getcpu(frame->di, frame->si);
	}
}

int vsyscall_fault(struct frame *frame, uint64_t address)
{
	const uint64_t offset = address - VSYSCALL_ADDRESS;
	uint64_t back;

	/* Without NX and SMEP the error code does not tell a fetch (SDM vol. 3, 4.7); then nothing can be executed there. */
	if (configured[SWITCH_VSYSCALL] != VSYSCALL_EMULATE || frame->ip != address ||
	    (cpu_has(FEATURE_NX) && !(frame->error & FAULT_FETCH)))
		return 0;
	if (offset != VSYSCALL_GETTIMEOFDAY && offset != VSYSCALL_TIME && offset != VSYSCALL_GETCPU)
		return 0;
	if (user_read(&back, frame->sp, sizeof(back)) || !shadow_stack_return(back))
		return 0;
	frame->ax = (uint64_t)serve(frame, offset);
	frame->ip = back;
	frame->sp += sizeof(back);
	return 1;
}

/* How the kernel serves the vsyscall page. */
#include "fault.h"

#define VSYSCALL_PAGE 0xffffffffff600000ul
#define VSYSCALL_TIME (VSYSCALL_PAGE + 1024)

static volatile unsigned long steps_in_page;

static void count_step(int signal, const void *info, void *context)
{
	const struct context *at = context;

	(void)signal;
	(void)info;
	steps_in_page += at->registers.rip >= VSYSCALL_PAGE && at->registers.rip < VSYSCALL_PAGE + 4096;
}

/* The read of a page that may not be readable is the row `page-fault`, with its handler. */
void page_fault_checked(void);

/*
 * How the kernel serves the vsyscall page; VSYSCALL_MODE_*. Calls it: where there is none, the fault is reported
 * by whatever handler is in place.
 *
 * Readable or not tells xonly. Emulation (arch/x86/entry/vsyscall/vsyscall_64.c) faults at the first byte, so
 * that a single-stepped call stops once in the page; a native page executes, and stops at each instruction.
 */
int vsyscall_mode(void)
{
	faults_skipped = 0;
	faults_skip(SIGSEGV, 2);
	invocations[0].args[0] = VSYSCALL_PAGE;
	page_fault_checked();
	const int readable = faults_skipped == 0;

	faults_report();
	fault_handle(SIGTRAP, count_step);
	stepped_call((void *)VSYSCALL_TIME);
	faults_report();
	if (steps_in_page > 1)
		return VSYSCALL_MODE_NATIVE;
	return readable ? VSYSCALL_MODE_EMULATE : VSYSCALL_MODE_XONLY;
}

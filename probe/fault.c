/* What happens on a signal: while an entry is tried, an outcome; for exceptions, the thing measured. */
#include "probe.h"

#include <asm/sigcontext.h>

#define SIGILL	4
#define SIGTRAP 5
#define SIGBUS	7
#define SIGFPE	8
#define SIGSEGV 11
#define SIGSYS	31

#define SA_SIGINFO  4
#define SA_RESTORER 0x04000000
#define SA_ONSTACK  0x08000000

struct action {
	void (*handler)(int, const void *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* The beginning of the kernel's struct ucontext (include/uapi/asm-generic/ucontext.h). */
struct context {
	unsigned long flags;
	void *link;
	struct {
		void *sp;
		int flags;
		unsigned long size;
	} stack;
	struct sigcontext registers;
};

static uint8_t signal_stack[1 << 14];
volatile unsigned long faults_skipped;

static void handle(int signal, void (*handler)(int, const void *, void *))
{
	const struct action action = {
	    .handler = handler,
	    .flags = SA_SIGINFO | SA_RESTORER | SA_ONSTACK,
	    .restorer = signal_return,
	};

	system_call(NR_RT_SIGACTION, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

static void report(int signal, const void *info, void *context)
{
	const struct context *at = context;
	const int *words = info; /* si_signo, si_errno, si_code */
	const uint64_t address = at->registers.cr2;
	const uint64_t fault = (uint64_t)at->registers.trapno << 32 | (uint32_t)at->registers.err;

	emit_refusal(OUTCOME_FAULT, CAUSE_SIGNAL, (uint64_t)signal, (uint64_t)(uint32_t)words[2], fault,
		     address);
}

void faults_report(void)
{
	static const uint8_t signals[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
	const struct {
		void *sp;
		int flags;
		unsigned long size;
	} stack = {signal_stack, 0, sizeof(signal_stack)};

	/* A stack of its own: an entry that went wrong may have left none. */
	system_call(NR_SIGALTSTACK, (long)&stack, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < sizeof(signals); i++)
		handle(signals[i], report);
}

#ifdef __x86_64__
static unsigned skip_length;

static void skip(int signal, const void *info, void *context)
{
	struct context *at = context;

	(void)signal;
	(void)info;
	at->registers.rip += skip_length;
	faults_skipped++;
}

void faults_skip(int signal, unsigned length)
{
	skip_length = length;
	handle(signal, skip);
}

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
 * How the kernel serves the vsyscall page; VSYSCALL_*. Calls it: where there is none, the fault is reported
 * by whatever handler is in place.
 *
 * Readable or not tells xonly. Emulation (arch/x86/entry/vsyscall/vsyscall_64.c) faults at the first byte, so
 * that a single-stepped call stops once in the page; a native page executes, and stops at each instruction.
 */
int vsyscall_mode(void)
{
	faults_skipped = 0;
	faults_skip(SIGSEGV, 2);
	invocation.args[0] = VSYSCALL_PAGE;
	page_fault_checked();
	const int readable = faults_skipped == 0;

	faults_report();
	handle(SIGTRAP, count_step);
	stepped_call((void *)VSYSCALL_TIME);
	faults_report();
	if (steps_in_page > 1)
		return VSYSCALL_NATIVE;
	return readable ? VSYSCALL_EMULATE : VSYSCALL_XONLY;
}
#endif

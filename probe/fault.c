/* Signals: one that an entry raises unasked ends the probe with an outcome; one that an exception raises is measured. */
#include "fault.h"

#define SA_SIGINFO  4
#define SA_RESTORER 0x04000000
#define SA_ONSTACK  0x08000000

struct action {
	void (*handler)(int, const void *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static uint8_t signal_stack[1 << 14];
volatile unsigned long faults_skipped;

void fault_handle(int signal, void (*handler)(int, const void *, void *))
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

	/* Handlers get a stack of their own, because an entry that went wrong may have lost the program's. */
	system_call(NR_SIGALTSTACK, (long)&stack, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < sizeof(signals); i++)
		fault_handle(signals[i], report);
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
	fault_handle(signal, skip);
}
#endif

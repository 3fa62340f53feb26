/*
 * The loops of UnixBench's system call test: dup(0), close of what that answered, getpid, getuid, umask(022).
 *
 * A process of one thread gets the lowest descriptor that is free, the same in each turn. It is found out before, so that close
 * has its argument in memory as every call has, and the timed code is nothing but calls.
 */
#include "probe.h"

#define MASK 022

static unsigned long descriptor;

void unixbench_prepare(const struct operation *operation)
{
	const long got = system_call(NR_DUP, 0, 0, 0, 0, 0, 0);

	if (got < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-got, 0, 0, 0);
	system_call(NR_CLOSE, got, 0, 0, 0, 0, 0);
	descriptor = (unsigned long)got;
	invocations[0].args[0] = 0;
	invocations[1].args[0] = descriptor;
	if (operation->id != OPERATION_UNIXBENCH_SYSCALL)
		return;
	invocations[4].args[0] = MASK;
	system_call(NR_UMASK, MASK, 0, 0, 0, 0, 0); /* umask answers with the mask before */
}

unsigned long unixbench_answer(const struct operation *operation, unsigned place)
{
	if (operation->id == OPERATION_UNIXBENCH_GETPID)
		return (unsigned long)system_call(NR_GETPID, 0, 0, 0, 0, 0, 0);
	switch (place) {
	case 0:
		return descriptor;
	case 1:
		return 0;
	case 2:
		return (unsigned long)system_call(NR_GETPID, 0, 0, 0, 0, 0, 0);
	case 3:
		return (unsigned long)system_call(NR_GETUID, 0, 0, 0, 0, 0, 0);
	default:
		return MASK;
	}
}

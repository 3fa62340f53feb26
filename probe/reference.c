/* What answers are compared with: the base ABI's own calls. */
#include "probe.h"

/* Where a filter forbids the call, there is nothing to compare an answer with. */
static void need(long result)
{
	if (result < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-result, 0, 0, 0);
}

uint64_t reference_time(uint32_t clock)
{
	struct {
		int64_t seconds, nanoseconds;
	} now = {0, 0};

#ifdef __x86_64__
	need(system_call(NR_CLOCK_GETTIME, (long)clock, (long)&now, 0, 0, 0, 0));
#else
	if (system_call(NR_CLOCK_GETTIME64, (long)clock, (long)&now, 0, 0, 0, 0) < 0) { /* before Linux 5.1 */
		int32_t narrow[2];
		need(system_call(NR_CLOCK_GETTIME, (long)clock, (long)narrow, 0, 0, 0, 0));
		now.seconds = narrow[0];
		now.nanoseconds = narrow[1];
	}
#endif
	return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

uint64_t reference_resolution(uint32_t clock)
{
	long resolution[2] = {0, 0};

	need(system_call(NR_CLOCK_GETRES, (long)clock, (long)resolution, 0, 0, 0, 0));
	return (uint64_t)resolution[0] * 1000000000u + (uint64_t)resolution[1];
}

unsigned long reference_parent(void)
{
	return (unsigned long)system_call(NR_GETPPID, 0, 0, 0, 0, 0, 0);
}

unsigned long reference_cpu(void)
{
	return cpu_now();
}

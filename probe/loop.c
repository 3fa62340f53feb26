/*
 * Plain loops of calls between two readings of a clock, as programs that are no probe measure: without control, without
 * fences between the calls, and with the clock's own cost in the result. Figures of others are reproduced by these.
 */
#include "probe.h"

#include <linux/time.h>

struct span {
	uint64_t before, behind;
};

static struct span spans[MAX_REPETITIONS];

/* The vDSO's clock_gettime; null where there is none. */
static int (*vdso_clock)(int clock, long time[2]);

static uint64_t monotonic(void)
{
	long time[2];

	if (!vdso_clock || vdso_clock(CLOCK_MONOTONIC, time))
		return reference_time(CLOCK_MONOTONIC);
	return (uint64_t)time[0] * 1000000000u + (uint64_t)time[1];
}

static uint64_t now(const struct request *request)
{
	return request->clock == LOOP_CLOCK_TSC ? tsc() : monotonic();
}

void loop_measure(const struct request *request)
{
	vdso_clock = (int (*)(int, long *))vdso_function("__vdso_clock_gettime", "LINUX_2.6");
	/* Once for the caches, the predictors, and the pages of the result. */
	for (unsigned long i = 0; i < request->repetitions; i++)
		spans[i].before = now(request);
	request->routines->loop(0, request->calls);

	for (unsigned long i = 0; i < request->repetitions; i++) {
		spans[i].before = now(request);
		request->routines->loop(0, request->calls);
		spans[i].behind = now(request);
	}
}

void loop_emit(const struct request *request)
{
	emit(RECORD_LOOPS, spans, (uint32_t)(request->repetitions * sizeof(spans[0])));
}

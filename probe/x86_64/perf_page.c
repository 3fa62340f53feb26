/* The clock in a perf event's mapped page, as include/uapi/linux/perf_event.h says to read it. */
#include "probe.h"

#include <linux/perf_event.h>

static const volatile struct perf_event_mmap_page *page;

static uint64_t perf_clock(void)
{
	uint32_t seq;
	uint64_t time;

	do {
		seq = page->lock;
		__asm__ volatile("" : : : "memory"); /* x86 keeps loads in order; the compiler must too */
		const uint64_t cycles = tsc();
		const uint16_t shift = page->time_shift;
		const uint64_t whole = cycles >> shift, rest = cycles & ((1ull << shift) - 1);

		time = page->time_zero + whole * page->time_mult + (rest * page->time_mult >> shift);
		__asm__ volatile("" : : : "memory");
	} while (page->lock != seq || seq & 1);
	return time;
}

unsigned long perf_page_prepare(void)
{
	struct perf_event_attr attributes = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(attributes),
	    .config = PERF_COUNT_SW_DUMMY,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	};
	const long event = system_call(NR_PERF_EVENT_OPEN, (long)&attributes, 0, -1, -1, 0, 0);

	if (event < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-event, 0, 0, 0);
	const long mapped = system_call(NR_MMAP, 0, PAGE, PROTECT_READ, MAP_SHARED, event, 0);
	if (mapped < 0 && mapped >= -4095)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-mapped, 0, 0, 0);
	page = (const volatile struct perf_event_mmap_page *)mapped;
	if (!page->cap_user_time || !page->cap_user_time_zero)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_USER_TIME, 0, 0, 0, 0);
	return (unsigned long)perf_clock;
}

/*
 * vsyscall=original: the fixed page as it once was, code that reads time data in the page itself and does not
 * enter the kernel, unless the TSC is unusable. vsyscall.lds places the functions.
 */
#include "machine.h"
#include "time/time_page.h"
#include "vdso/getcpu.h"
#include "vdso/vsyscall.h"

_Static_assert(VSYSCALL_GETTIMEOFDAY == 0 && VSYSCALL_TIME == 0x400 && VSYSCALL_GETCPU == 0x800 &&
		   VSYSCALL_TIME_OFFSET == 0xc00,
	       "vsyscall.lds has them too");
_Static_assert(VSYSCALL_TIME_OFFSET + sizeof(struct time_page) <= 4096, "the data ends with the page");

#define PAGE_TIME ((const struct time_page *)(VSYSCALL_ADDRESS + VSYSCALL_TIME_OFFSET))

struct native_time {
	int64_t seconds, microseconds;
};

struct time_zone {
	int32_t minutes_west, daylight_saving;
};

__attribute__((section(".text.gettimeofday"))) long page_gettimeofday(struct native_time *out,
								      struct time_zone *zone)
{
	struct time_value now;

	if (out) {
		if (!time_read(PAGE_TIME, CLOCK_REALTIME, &now))
			return system_call(NR_GETTIMEOFDAY, (long)out, (long)zone, 0);
		out->seconds = (int64_t)now.seconds;
		out->microseconds = time_microseconds(now.nanoseconds);
	}
	if (zone)
		*zone = (struct time_zone){0, 0};
	return 0;
}

__attribute__((section(".text.time"))) long page_time(int64_t *out)
{
	const long now = (long)time_seconds(PAGE_TIME);

	if (out)
		*out = now;
	return now;
}

__attribute__((section(".text.getcpu"))) long page_getcpu(uint32_t *cpu, uint32_t *node, void *unused)
{
	(void)unused;
	getcpu_read(cpu, node);
	return 0;
}

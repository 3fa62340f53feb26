/*
 * What both vDSOs export. A clock that is in the time page is read there; any other takes a system call.
 * machine.h is the one of x86_64 or i386: system_call, its numbers, and whether functions have a second name.
 */
#include "machine.h"
#include "time/time_page.h"
#include "vdso/getcpu.h"

/* Places the page before the image: x86_64/vdso64.lds, i386/vdso32.lds. */
extern const struct time_page time_page __attribute__((visibility("hidden")));

struct native_time {
	long seconds, fraction; /* fraction: nanoseconds, or microseconds from gettimeofday */
};

struct time_zone {
	int32_t minutes_west, daylight_saving;
};

int __vdso_gettimeofday(struct native_time *out, struct time_zone *zone)
{
	struct time_value now;

	if (out) {
		if (!time_read(&time_page, CLOCK_REALTIME, &now))
			return (int)system_call(NR_GETTIMEOFDAY, (long)out, (long)zone, 0);
		out->seconds = (long)now.seconds;
		out->fraction = (long)time_microseconds(now.nanoseconds);
	}
	if (zone)
		*zone = (struct time_zone){0, 0};
	return 0;
}
ALSO_NAMED(gettimeofday);

int __vdso_clock_gettime(int clock, struct native_time *out)
{
	struct time_value now;

	if (!time_read(&time_page, (uint32_t)clock, &now))
		return (int)system_call(NR_CLOCK_GETTIME, clock, (long)out, 0);
	out->seconds = (long)now.seconds;
	out->fraction = (long)now.nanoseconds;
	return 0;
}
ALSO_NAMED(clock_gettime);

int __vdso_clock_getres(int clock, struct native_time *out)
{
	const uint32_t resolution = time_resolution(&time_page, (uint32_t)clock);

	if (!resolution)
		return (int)system_call(NR_CLOCK_GETRES, clock, (long)out, 0);
	if (out)
		*out = (struct native_time){0, (long)resolution};
	return 0;
}
ALSO_NAMED(clock_getres);

long __vdso_time(long *out)
{
	const long now = (long)time_seconds(&time_page);

	if (out)
		*out = now;
	return now;
}
ALSO_NAMED(time);

long __vdso_getcpu(uint32_t *cpu, uint32_t *node, void *unused)
{
	(void)unused;
	getcpu_read(cpu, node);
	return 0;
}
ALSO_NAMED(getcpu);

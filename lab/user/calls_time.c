/* Clocks, and waiting. */
#include "cpu/cpu.h"
#include "mm/mm.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/user.h"

#define TIMER_ABSOLUTE 1

/* Two 32-bit numbers as one store. */
static uint64_t narrow(uint64_t first, uint64_t second)
{
	return (uint32_t)first | second << 32;
}

long call_gettimeofday(word to, word zone)
{
	struct time_value now;

	if (!clock_read(CLOCK_REALTIME, &now))
		return -EINVAL;
	if (to && user_put_16(to, now.seconds, time_microseconds(now.nanoseconds)))
		return -EFAULT;
	return zone ? user_put_8(zone, 0) : 0;
}

long call_gettimeofday_32(word to, word zone)
{
	struct time_value now;

	if (!clock_read(CLOCK_REALTIME, &now))
		return -EINVAL;
	if (to && user_put_8(to, narrow(now.seconds, time_microseconds(now.nanoseconds))))
		return -EFAULT;
	return zone ? user_put_8(zone, 0) : 0;
}

long call_clock_gettime(word clock, word to)
{
	struct time_value now;

	if (!clock_read((uint32_t)clock, &now))
		return -EINVAL;
	return user_put_16(to, now.seconds, now.nanoseconds);
}

long call_clock_gettime_32(word clock, word to)
{
	struct time_value now;

	if (!clock_read((uint32_t)clock, &now))
		return -EINVAL;
	return user_put_8(to, narrow(now.seconds, now.nanoseconds));
}

long call_clock_getres(word clock, word to)
{
	const uint32_t resolution = clock_resolution((uint32_t)clock);

	if (!resolution)
		return -EINVAL;
	return to ? user_put_16(to, 0, resolution) : 0;
}

long call_clock_getres_32(word clock, word to)
{
	const uint32_t resolution = clock_resolution((uint32_t)clock);

	if (!resolution)
		return -EINVAL;
	return to ? user_put_8(to, narrow(0, resolution)) : 0;
}

long call_time(word to)
{
	const uint64_t now = time_seconds(&time_memory.page);

	return to && user_put_8(to, now) ? -EFAULT : (long)now;
}

long call_time_32(word to)
{
	const uint64_t now = time_seconds(&time_memory.page);

	return to && user_put_4(to, (uint32_t)now) ? -EFAULT : (long)now;
}

void time_rest(void)
{
	if (!cpu.has_apic)
		return;
	/* Calls through a trap gate or a call gate come with interrupts on, others with interrupts off. */
	const word flags = interrupts_off();
	__asm__ volatile("sti; hlt" : : : "memory");
	interrupts_restore(flags);
}

/* Whether a time is further away than the next tick. */
static int is_far(const struct time_value *now, const struct time_value *time)
{
	const uint64_t tick = time_memory.page.coarse_resolution;
	const uint64_t seconds = time->seconds - now->seconds;

	return seconds > 1 || seconds * NANOSECONDS_A_SECOND + time->nanoseconds > now->nanoseconds + tick;
}

/* No other program could run meanwhile. */
long time_wait(uint32_t clock, struct time_value time, int is_absolute)
{
	struct time_value now;

	if (!clock_read(clock, &now))
		return -EINVAL;
	if (!is_absolute) {
		time.seconds += now.seconds;
		time_carry((uint64_t)time.nanoseconds + now.nanoseconds, &time);
	}
	while (now.seconds < time.seconds ||
	       (now.seconds == time.seconds && now.nanoseconds < time.nanoseconds)) {
		if (is_far(&now, &time))
			time_rest();
		program_may_be_runaway();
		clock_update();
		clock_read(clock, &now);
	}
	return 0;
}

/* Negative seconds and invalid fractions are refused before the numbers are truncated. */
static long check_time(int64_t seconds, int64_t nanoseconds, struct time_value *time)
{
	*time = (struct time_value){(uint64_t)seconds, (uint32_t)nanoseconds};
	return seconds < 0 || nanoseconds < 0 || nanoseconds >= NANOSECONDS_A_SECOND ? -EINVAL : 0;
}

static long read_wide(word from, struct time_value *time)
{
	int64_t words[2];
	const long problem = user_read(words, from, sizeof(words));

	return problem ? problem : check_time(words[0], words[1], time);
}

static long read_narrow(word from, struct time_value *time)
{
	int32_t words[2];
	const long problem = user_read(words, from, sizeof(words));

	return problem ? problem : check_time(words[0], words[1], time);
}

long time_read_from(word from, int is_wide, struct time_value *time)
{
	return is_wide ? read_wide(from, time) : read_narrow(from, time);
}

/* Only some clocks can be waited for, as on Linux: those of one thread and the raw and coarse ones cannot. */
static long check_clock(uint32_t clock)
{
	if (!clock_resolution(clock))
		return -EINVAL;
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_PROCESS_CPU:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static long sleep(uint32_t clock, word flags, word request, int is_wide)
{
	struct time_value time;
	long problem = check_clock(clock);

	if (!problem)
		problem = time_read_from(request, is_wide, &time);
	return problem ? problem : time_wait(clock, time, (flags & TIMER_ABSOLUTE) != 0);
}

long call_nanosleep(word request, word rest)
{
	(void)rest;
	return sleep(CLOCK_MONOTONIC, 0, request, 1);
}

long call_nanosleep_32(word request, word rest)
{
	(void)rest;
	return sleep(CLOCK_MONOTONIC, 0, request, 0);
}

long call_clock_nanosleep(word clock, word flags, word request, word rest)
{
	(void)rest;
	return sleep((uint32_t)clock, flags, request, 1);
}

long call_clock_nanosleep_32(word clock, word flags, word request, word rest)
{
	(void)rest;
	return sleep((uint32_t)clock, flags, request, 0);
}

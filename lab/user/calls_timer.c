/* Timers that send a signal, and waiting for one. */
#include "mm/mm.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/user.h"

#define REAL	     0
#define SIGKILL	     9
#define MICROSECOND  1000u
#define MICROSECONDS 1000000
#define NO_TIMER     UINT64_MAX

static const uint8_t signals[TIMERS] = {14, 26, 27}; /* SIGALRM, SIGVTALRM, SIGPROF */

/* Of the current thread; copied, since getrandom and every tick look at them. */
static struct timers timers;

void timers_reset(struct timers *reset)
{
	for (unsigned i = 0; i < TIMERS; i++)
		reset->of[i].due = NO_TIMER;
}

void timers_save(struct timers *to)
{
	*to = timers;
}

void timers_load(const struct timers *from)
{
	timers = *from;
}

void timers_end(void)
{
	timers_reset(&timers);
}

static uint64_t now(void)
{
	struct time_value time = {0, 0};

	clock_read(CLOCK_MONOTONIC, &time);
	return time.seconds * NANOSECONDS_A_SECOND + time.nanoseconds;
}

void timers_check(void)
{
	for (unsigned i = 0; i < TIMERS; i++) {
		if (timers.of[i].due == NO_TIMER || timers.of[i].due > now())
			continue;
		timers.of[i].due = timers.of[i].interval ? now() + timers.of[i].interval : NO_TIMER;
		signal_send(signals[i]);
	}
}

static int is_armed(void)
{
	for (unsigned i = 0; i < TIMERS; i++)
		if (timers.of[i].due != NO_TIMER)
			return 1;
	return 0;
}

_Noreturn void waits_for_ever(const char *what)
{
	while (is_armed()) {
		time_rest();
		program_may_be_runaway();
	}
	log_line("%s: nobody else runs here who could end the wait, so it ends the program", what);
	program_ends((struct end){LAB_END_FAULT, {SIGKILL}});
}

/* What is left of a timer, and its interval: four words, as in struct itimerval. */
static void tell(unsigned which, uint64_t words[4])
{
	const uint64_t time = now(), due = timers.of[which].due;
	/* A timer that is armed never has nothing left. */
	const uint64_t left = due == NO_TIMER ? 0 : due > time + MICROSECOND ? due - time : MICROSECOND;

	words[0] = timers.of[which].interval / NANOSECONDS_A_SECOND;
	words[1] = timers.of[which].interval % NANOSECONDS_A_SECOND / MICROSECOND;
	words[2] = left / NANOSECONDS_A_SECOND;
	words[3] = left % NANOSECONDS_A_SECOND / MICROSECOND;
}

static int is_time(const int64_t words[2])
{
	return words[0] >= 0 && words[1] >= 0 && words[1] < MICROSECONDS;
}

/* The longest time is that of Linux, where more seconds than fit into nanoseconds are as many as do. */
static uint64_t nanoseconds_of(const int64_t words[2])
{
	const uint64_t most = INT64_MAX / NANOSECONDS_A_SECOND - 1;
	const uint64_t seconds = (uint64_t)words[0] < most ? (uint64_t)words[0] : most;

	return seconds * NANOSECONDS_A_SECOND + (uint64_t)words[1] * MICROSECOND;
}

static void arm(unsigned which, const int64_t words[4])
{
	const uint64_t wait = nanoseconds_of(words + 2);

	timers.of[which].interval = wait ? nanoseconds_of(words) : 0;
	timers.of[which].due = wait ? now() + wait : NO_TIMER;
}

static long setitimer(uint32_t which, const int64_t words[4], uint64_t old[4])
{
	if (!is_time(words) || !is_time(words + 2) || which >= TIMERS)
		return -EINVAL;
	tell(which, old);
	arm(which, words);
	return 0;
}

/* As a 32-bit program's struct itimerval. */
static long write_narrow(word to, const uint64_t words[4])
{
	const uint32_t narrow[4] = {(uint32_t)words[0], (uint32_t)words[1], (uint32_t)words[2],
				    (uint32_t)words[3]};

	return user_write(to, narrow, sizeof(narrow));
}

long call_setitimer(word which, word timer, word old_timer)
{
	int64_t words[4] = {0};
	uint64_t old[4];

	if (timer && user_read(words, timer, sizeof(words)))
		return -EFAULT;
	const long problem = setitimer((uint32_t)which, words, old);
	return problem ? problem : old_timer ? user_write(old_timer, old, sizeof(old)) : 0;
}

long call_setitimer_32(word which, word timer, word old_timer)
{
	int32_t narrow[4] = {0};
	uint64_t old[4];

	if (timer && user_read(narrow, timer, sizeof(narrow)))
		return -EFAULT;
	const int64_t words[4] = {narrow[0], narrow[1], narrow[2], narrow[3]};
	const long problem = setitimer((uint32_t)which, words, old);
	return problem ? problem : old_timer ? write_narrow(old_timer, old) : 0;
}

static long getitimer(uint32_t which, uint64_t words[4])
{
	if (which >= TIMERS)
		return -EINVAL;
	tell(which, words);
	return 0;
}

long call_getitimer(word which, word to)
{
	uint64_t words[4];
	const long problem = getitimer((uint32_t)which, words);

	return problem ? problem : user_write(to, words, sizeof(words));
}

long call_getitimer_32(word which, word to)
{
	uint64_t words[4];
	const long problem = getitimer((uint32_t)which, words);

	return problem ? problem : write_narrow(to, words);
}

long call_alarm(word seconds)
{
	const int64_t words[4] = {0, 0, (uint32_t)seconds, 0};
	uint64_t old[4];

	setitimer(REAL, words, old);
	/* Rounded, but never to 0 while there is a rest. */
	return (long)(old[2] + (old[3] >= MICROSECONDS / 2 || (!old[2] && old[3])));
}

long call_pause(void)
{
	waits_for_ever("a wait for a signal");
}

/*
 * Ends by a signal, or does not: CASE says how. Linux and the lab must agree on the first six; the others have a handler, or
 * wait for ever, which the lab ends in words.
 */
#include <stdint.h>

long way_syscall(long number, const long arguments[6]);
long way_int80(long number, const long arguments[6]);

#ifdef __x86_64__
#define CALL(x86_64_, i386_, ...) way_syscall(x86_64_, (const long[6]){__VA_ARGS__})
#else
#define CALL(x86_64_, i386_, ...) way_int80(i386_, (const long[6]){__VA_ARGS__})
extern unsigned long gateway;
#endif

#define SIGUSR1	   10
#define SIGCHLD	   17
#define SIG_IGNORE 1
#define BIT	   (1l << (SIGUSR1 - 1))

static long action[8], mask[2], timer[4] = {0, 0, 0, 10000};
static int32_t ends[2];

static void send(long signal)
{
	CALL(62, 37, CALL(39, 20, 0), signal);
}

void begin(const unsigned long *stack);

void begin(const unsigned long *stack)
{
	(void)stack;
	switch (CASE) {
	case 0: /* a timer, and a loop without an end */
		CALL(38, 104, 0, (long)timer, 0);
		for (;;)
			;
	case 1:
		send(SIGUSR1);
		break;
	case 2: /* blocked, until it is not any more */
		mask[0] = BIT;
		CALL(14, 175, 0, (long)mask, 0, 8);
		send(SIGUSR1);
		CALL(14, 175, 1, (long)mask, 0, 8);
		break;
	case 3:
		action[0] = SIG_IGNORE;
		CALL(13, 174, SIGUSR1, (long)action, 0, 8);
		send(SIGUSR1);
		break;
	case 4: /* ignored by default */
		send(SIGCHLD);
		break;
	case 5: /* a pipe that nobody can read */
		CALL(22, 42, (long)ends);
		CALL(3, 6, ends[0]);
		CALL(1, 4, ends[1], (long)ends, 4);
		break;
	case 6: /* a handler */
		action[0] = (long)begin;
		CALL(13, 174, SIGUSR1, (long)action, 0, 8);
		send(SIGUSR1);
		break;
	case 7:
		CALL(34, 29, 0);
		break;
	case 8: /* a lock that nobody releases */
		CALL(202, 240, (long)ends, 0, 0, 0);
		break;
	}
	for (;;)
		CALL(60, 1, 0);
}

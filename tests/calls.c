/*
 * Makes a number of system calls that is known, of one kind: getppid.
 *
 *	calls NUMBER THREADS CHILDREN SPIN
 *
 * The process itself, each thread and each child make so many, and go round a loop of SPIN turns before each. Children end before it does.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long number, spin;

static void *make_calls(void *unused)
{
	(void)unused;
	for (long i = 0; i < number; i++) {
		for (volatile long turn = 0; turn < spin; turn++)
			;
		syscall(SYS_getppid);
	}
	return 0;
}

int main(int count, char **words)
{
	pthread_t threads[64];
	const long wanted = count > 2 ? atol(words[2]) : 0, children = count > 3 ? atol(words[3]) : 0;

	number = count > 1 ? atol(words[1]) : 0;
	spin = count > 4 ? atol(words[4]) : 0;
	if (wanted > 64)
		return 2;
	for (long i = 0; i < children; i++)
		if (fork() == 0) {
			make_calls(0);
			_exit(0);
		}
	for (long i = 0; i < wanted; i++)
		if (pthread_create(&threads[i], 0, make_calls, 0))
			return 3;
	make_calls(0);
	for (long i = 0; i < wanted; i++)
		pthread_join(threads[i], 0);
	while (wait(0) > 0)
		;
	return 0;
}

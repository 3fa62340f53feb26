/*
 * A process that ends at once: fork, exec of this very program with a request for nothing (MODE_EXIT), and wait. UnixBench executes
 * /bin/true, which not every guest has; probe-libc is linked to the C library as that is, and the other probe is not.
 *
 * It takes three calls and a child between them, so that it is a function, and its call is what is timed.
 */
#include "probe.h"

#define NOT_EXECUTED 127

static const char program[] = "/proc/self/exe";
static char exit_request[] = {'0' + MODE_EXIT, 0};
static char *arguments[] = {"probe", exit_request, 0};

/* By the base ABI's own calls. The status that the child ended with, or -errno. */
static long make_process(void)
{
	static char *none[] = {0};
	int status = -1;
	const long child = system_call(NR_FORK, 0, 0, 0, 0, 0, 0);

	if (child == 0) {
		system_call(NR_EXECVE, (long)program, (long)arguments, (long)none, 0, 0, 0);
		for (;;)
			system_call(NR_EXIT_GROUP, NOT_EXECUTED, 0, 0, 0, 0, 0);
	}
	if (child < 0)
		return child;
	const long waited = system_call(NR_WAIT4, child, (long)&status, 0, 0, 0, 0);
	return waited < 0 ? waited : status;
}

static int (*libc_fork)(void);
static int (*libc_execv)(const char *path, char *const arguments[]);
static int (*libc_waitpid)(int child, int *status, int options);

/* By the C library's functions. The status that the child ended with, or -1. */
static long make_process_by_libc(void)
{
	int status = -1;
	const int child = libc_fork();

	if (child == 0) {
		libc_execv(program, arguments);
		for (;;)
			system_call(NR_EXIT_GROUP, NOT_EXECUTED, 0, 0, 0, 0, 0);
	}
	if (child < 0 || libc_waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

unsigned long process_maker(const struct request *request)
{
	if (request->entry->id != ENTRY_LIBC)
		return (unsigned long)make_process;
	libc_fork = (int (*)(void))libc_function("fork");
	libc_execv = (int (*)(const char *, char *const[]))libc_function("execv");
	libc_waitpid = (int (*)(int, int *, int))libc_function("waitpid");
	return libc_fork && libc_execv && libc_waitpid ? (unsigned long)make_process_by_libc : 0;
}

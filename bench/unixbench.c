/*
 * The loop of UnixBench's system call test, written anew for comparison: so many seconds of close(dup(0)), getpid(), getuid() and
 * umask(022), or of one of the test's other modes, until an alarm.
 *
 *	unixbench SECONDS [mix|close|getpid|exec]
 *
 * Prints the turns in a second as UnixBench counts them, and in a second of CPU time, which leaves out what other processes took
 * of it. The operations unixbench-* of entries.toml are compared with it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static void turn_close(void)
{
	close(dup(0));
}

static void turn_getpid(void)
{
	getpid();
}

static void turn_mix(void)
{
	close(dup(0));
	getpid();
	getuid();
	umask(022);
}

static void turn_exec(void)
{
	const pid_t child = fork();

	if (child == 0) {
		execl("/bin/true", "/bin/true", (char *)0);
		_exit(127);
	}
	waitpid(child, 0, 0);
}

/* The CPU time of this process, or of those that it has waited for: seconds. */
static double cpu_time(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static const struct mode {
	const char *name;
	void (*turn)(void);
} modes[] = {{"mix", turn_mix}, {"close", turn_close}, {"getpid", turn_getpid}, {"exec", turn_exec}};

static const struct mode *find(const char *name)
{
	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	fprintf(stderr, "unixbench: there is no mode %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 0;
	const struct mode *mode = find(argc > 2 ? argv[2] : "mix");
	const struct itimerval time = {
	    .it_value = {(time_t)seconds, (suseconds_t)((seconds - (time_t)seconds) * 1e6)}};
	unsigned long turns = 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: unixbench SECONDS [mix|close|getpid|exec]\n");
		return 2;
	}
	signal(SIGALRM, end);
	setitimer(ITIMER_REAL, &time, 0);
	while (!is_over) {
		mode->turn();
		turns++;
	}
	printf("%.0f %.0f\n", (double)turns / seconds,
	       (double)turns / (cpu_time(RUSAGE_SELF) + cpu_time(RUSAGE_CHILDREN)));
	return 0;
}

/*
 * Plain C against the system's C library, linked statically; it knows nothing of the lab. argv[1] says what to do; exit
 * status 0 when that went well, 1 when not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MEBIBYTE (1ul << 20)

static int must(int holds, const char *what)
{
	if (!holds)
		fprintf(stderr, "not so: %s\n", what);
	return !holds;
}
#define MUST(holds) must((holds) != 0, #holds)

static int hello(void)
{
	static const char text[] = "hello by write\n";

	return MUST(write(STDOUT_FILENO, text, sizeof(text) - 1) == sizeof(text) - 1);
}

static int print(void)
{
	volatile double third = 1.0 / 3;

	printf("%s %d %#lx %.6f %5s|%-5s|\n", "text", -42, 0xbeeful, third, "r", "l");
	return MUST(fflush(stdout) == 0);
}

static int print_errors(void)
{
	fprintf(stderr, "to %s\n", "standard error");
	puts("to standard output");
	return 0;
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 31 >> 4);
}

/* Grows in steps to 30 MiB: by brk at first, then by mmap and mremap. */
static int memory(void)
{
	size_t bytes = 1000;
	uint8_t *block = malloc(bytes);

	for (size_t i = 0; i < bytes; i++)
		block[i] = pattern(i);
	while (bytes < 30 * MEBIBYTE) {
		const size_t more = bytes * 3 < 30 * MEBIBYTE ? bytes * 3 : 30 * MEBIBYTE;
		block = realloc(block, more);
		if (MUST(block))
			return 1;
		for (size_t i = bytes; i < more; i += i < 4096 ? 1 : 511)
			block[i] = pattern(i);
		bytes = more;
	}
	for (size_t i = 0; i < 1000; i++)
		if (block[i] != pattern(i))
			return must(0, "what was written is still there");
	free(block);
	/* Many small ones, in and out of order. */
	static void *small[2000];
	for (size_t i = 0; i < 2000; i++)
		memset(small[i] = malloc(i % 300 + 1), (int)i, i % 300 + 1);
	for (size_t i = 0; i < 2000; i += 2)
		free(small[i]);
	for (size_t i = 1; i < 2000; i += 2)
		if (*(uint8_t *)small[i] != (uint8_t)i)
			return must(0, "small blocks are still there");
	uint8_t *zeroes = calloc(MEBIBYTE, 1);
	for (size_t i = 0; i < MEBIBYTE; i += 97)
		if (zeroes[i])
			return must(0, "calloc's are zeroes");
	return 0;
}

static int64_t microseconds(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return now.tv_sec * (int64_t)1000000 + now.tv_usec;
}

/* Time goes on, never back, and gets from one second to the next. */
static int time_of_day(void)
{
	const int64_t start = microseconds();
	int64_t last = start;
	int advanced = 0;

	for (int i = 0; i < 20000; i++) {
		const int64_t now = microseconds();
		if (now < last)
			return must(0, "time does not go back");
		advanced += now > last;
		last = now;
	}
	printf("%lld\n", (long long)(start / 1000000));
	return MUST(advanced > 100) | MUST(last - start < 10000000) | MUST(time(NULL) >= start / 1000000);
}

static int clocks(void)
{
	static const clockid_t ids[] = {
	    CLOCK_REALTIME,	     CLOCK_MONOTONIC,	  CLOCK_PROCESS_CPUTIME_ID,
	    CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
	    CLOCK_MONOTONIC_COARSE,  CLOCK_BOOTTIME,	  CLOCK_TAI,
	};
	int wrong = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct timespec first, second, resolution, kernel;
		wrong |= MUST(clock_gettime(ids[i], &first) == 0);
		wrong |= MUST(clock_gettime(ids[i], &second) == 0);
		wrong |= MUST(clock_getres(ids[i], &resolution) == 0);
		wrong |= MUST(first.tv_nsec >= 0 && first.tv_nsec < 1000000000);
		wrong |= MUST(second.tv_sec > first.tv_sec ||
			      (second.tv_sec == first.tv_sec && second.tv_nsec >= first.tv_nsec));
		wrong |= MUST(resolution.tv_sec == 0 && resolution.tv_nsec > 0);
		/* The kernel and its vDSO agree. */
		wrong |= MUST(syscall(SYS_clock_gettime, ids[i], &kernel) == 0);
		wrong |= MUST(labs((long)(kernel.tv_sec - second.tv_sec)) <= 1);
	}
	struct timespec none;
	errno = 0;
	wrong |= MUST(clock_gettime(1234, &none) == -1) | MUST(errno == EINVAL);
	return wrong;
}

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static int sleep_a_while(void)
{
	const struct timespec five = {0, 5000000}, wrong = {0, 1000000000}, negative = {-1, 0};
	struct timespec until;
	int failed = 0;

	for (int i = 0; i < 3; i++) {
		const int64_t before = nanoseconds(CLOCK_MONOTONIC);
		failed |= MUST(nanosleep(&five, NULL) == 0);
		const int64_t slept = nanoseconds(CLOCK_MONOTONIC) - before;
		failed |= MUST(slept >= 5000000) | MUST(slept < 50000000);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 2000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	failed |= MUST(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == 0);
	failed |= MUST(nanoseconds(CLOCK_REALTIME) >= until.tv_sec * (int64_t)1000000000 + until.tv_nsec);
	failed |= MUST(nanosleep(&wrong, NULL) == -1) | MUST(errno == EINVAL);
	failed |= MUST(nanosleep(&negative, NULL) == -1) | MUST(errno == EINVAL);
	failed |= MUST(usleep(1000) == 0);
	return failed;
}

static int identity(void)
{
	unsigned cpu = 99, node = 99;
	struct utsname name;
	struct rusage usage;
	struct rlimit stack;
	cpu_set_t cpus;
	char random[64] = {0};

	return MUST(getcpu(&cpu, &node) == 0) | MUST(cpu == 0 && node == 0) | MUST(sched_getcpu() == 0) |
	       MUST(uname(&name) == 0) | MUST(!strcmp(name.sysname, "Linux")) | MUST(getppid() == 1) |
	       MUST(getpid() == 2) | MUST(getuid() == 0) | MUST(getrusage(RUSAGE_SELF, &usage) == 0) |
	       MUST(usage.ru_minflt > 0) | MUST(getrlimit(RLIMIT_STACK, &stack) == 0) |
	       MUST(stack.rlim_cur == 8 * MEBIBYTE) | MUST(sched_getaffinity(0, sizeof(cpus), &cpus) == 0) |
	       MUST(CPU_COUNT(&cpus) == 1) | MUST(getrandom(random, sizeof(random), 0) == sizeof(random)) |
	       MUST(memcmp(random, random + 32, 32) != 0) | MUST(sysconf(_SC_PAGESIZE) == 4096) |
	       MUST(isatty(STDOUT_FILENO) == 0);
}

static __thread volatile int thread_local_number = 1234;
static const int constants[2048] = {1, [2047] = 7};
static int data[2048] = {1, [1500] = 5, [2047] = 7};

/* Rights of memory change, of a program's own data, too. */
static int rights(void)
{
	const uintptr_t page = ((uintptr_t)&data[1024] + 4095) & ~4095ul;
	uint8_t *map = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int failed = MUST(map != MAP_FAILED);

	/* Before most of the data has been touched. */
	failed |= MUST(mprotect((void *)page, 1, PROT_READ) == 0);
	failed |=
	    MUST(data[0] == 1) | MUST(data[1500] == 5) | MUST(data[2047] == 7) | MUST(constants[2047] == 7);
	failed |= MUST(mprotect((void *)page, 1, PROT_READ | PROT_WRITE) == 0);
	data[1500] = 6;
	failed |= MUST(data[1500] == 6) | MUST(data[2047] == 7);

	memset(map, 9, 4 * 4096);
	failed |= MUST(mprotect(map + 4096, 4096, PROT_NONE) == 0) | MUST(munmap(map + 2 * 4096, 4096) == 0);
	failed |= MUST(map[4095] == 9) | MUST(map[3 * 4096] == 9);
	failed |= MUST(mprotect(map + 4096, 4096, PROT_READ) == 0) | MUST(map[4096] == 9);
	failed |= MUST(madvise(map, 4096, MADV_DONTNEED) == 0) | MUST(map[0] == 0);
	failed |= MUST(mremap(map + 3 * 4096, 4096, 8 * 4096, MREMAP_MAYMOVE) != MAP_FAILED);
	failed |= MUST(thread_local_number == 1234);
	return failed;
}

static int deep(int left)
{
	volatile char room[4000];

	room[0] = (char)left;
	return left ? deep(left - 1) + room[0] - (char)left : 0;
}

/* The library chooses its functions by CPUID and XCR0. */
static int vectors(void)
{
	static char from[70000], to[70000];
	double sum = 0;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i % 251 + 1);
	for (size_t bytes = 1; bytes < sizeof(from); bytes = bytes * 2 + 1) {
		memset(to, 0, sizeof(to));
		memcpy(to, from, bytes);
		if (memcmp(to, from, bytes) || to[bytes] || strnlen(to, sizeof(to)) != bytes)
			return must(0, "copies are alike");
	}
	for (int i = 1; i < 100; i++)
		sum += sqrt(i) * sin(i);
	return MUST(fabs(sum - 3.6) < 20) | MUST(deep(1500) == 0);
}

/* Nobody serves these. */
static int unknown(void)
{
	int failed = MUST(getsid(0) == -1) | MUST(errno == ENOSYS);

	failed |= MUST(syscall(SYS_setxattr, "", "", "", 0, 0) == -1) | MUST(errno == ENOSYS);
	failed |= MUST(getsid(0) == -1); /* which is not named again */
	failed |= MUST(fcntl(STDOUT_FILENO, F_GETLEASE) == -1) | MUST(errno == EINVAL);
	failed |= MUST(fcntl(STDOUT_FILENO, F_GETLEASE) == -1);
	return failed;
}

static int no_files(void)
{
	return MUST(fopen("/etc/passwd", "r") == NULL) | MUST(errno == ENOENT) | MUST(getchar() == EOF);
}

static int end_by_abort(void)
{
	fflush(stdout);
	abort();
}

static int end_by_exit(void)
{
	printf("not flushed yet");
	exit(42);
}

static int end_by_null(void)
{
	volatile int *volatile nowhere = NULL;

	return *nowhere;
}

static int long_output(void)
{
	for (int i = 0; i < 20000; i++)
		printf("line %d\n", i);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} commands[] = {
    {"hello", hello},
    {"print", print},
    {"print_errors", print_errors},
    {"memory", memory},
    {"time", time_of_day},
    {"clocks", clocks},
    {"sleep", sleep_a_while},
    {"identity", identity},
    {"rights", rights},
    {"vectors", vectors},
    {"unknown", unknown},
    {"no_files", no_files},
    {"abort", end_by_abort},
    {"exit", end_by_exit},
    {"null", end_by_null},
    {"long_output", long_output},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run();
	for (int i = 0; i < argc; i++)
		printf("[%s]", argv[i]);
	return argc;
}

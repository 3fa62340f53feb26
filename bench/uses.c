/*
 * Does a use cost the same with sixteen between two stamps as alone? Each way of taking a sample that uses.S has is tried in turns, on entries
 * that stay in user space and, to compare, on two that do not.
 *
 *	uses CPU ROUNDS [ENTRY]		prints a line for each entry: how many rounds are kept, what a use alone costs in core cycles (the
 *					median of the rounds), and how much more it costs each other way: the median of the
 *					rounds' differences, and the ends of its interval of 95 %
 *
 *	gcc -O2 -no-pie [-m32] uses.c uses.S -ldl -lm
 *
 * A round takes a block of samples each way, one right behind the other, and begins with another way each time. It is kept if the canaries
 * between its blocks are within 5 % of the fastest of the entry's rounds, and its chains within 1 % of their usual length. A block's cost is the
 * mean of entry less control, without samples that an interrupt struck, in cycles by the round's own chains: eight in a row less one,
 * which is free of stamps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

/* Ways up to ONCE have one use in a sample. */
enum { ONCE = 1, WAYS = 7, SAMPLES = 64, USES = 16, CANARIES = 4, MOST = 20000, CHAIN_CYCLES = 768 };

struct sample {
	uint64_t stamp[4];
};

typedef void timed(struct sample *out, unsigned long count);

#define DECLARE(name)                                                                                        \
	timed name##_one, name##_loose, name##_stamped, name##_loosely, name##_chained, name##_fenced,       \
	    name##_unfenced
DECLARE(rdtsc);
DECLARE(rdtscp);
DECLARE(function);
timed canary;
/* Versions of the formatter differ about a macro that is a block. */
// clang-format off
#define ALL(name) {name##_one, name##_loose, name##_stamped, name##_loosely, name##_chained, name##_fenced, name##_unfenced}
// clang-format on
void empty(void);
extern void *target;
extern unsigned long arguments[5];

static union {
	struct timespec specification;
	struct timeval value;
	char bytes[64];
} answer;

struct entry {
	const char *name;
	timed *ways[WAYS];
	const char *function; /* of the vDSO, or of the C library; none: not a function */
	long clock;	      /* -1: the first argument is where the answer goes */
};

#ifdef __x86_64__
DECLARE(rdpid);
#define VDSO "linux-vdso.so.1"
#else
#define VDSO "linux-gate.so.1"
#endif

static const struct entry entries[] = {
    {"call none", ALL(function), "", 0},
    {"rdtsc", ALL(rdtsc), 0, 0},
    {"rdtscp", ALL(rdtscp), 0, 0},
#ifdef __x86_64__
    {"rdpid", ALL(rdpid), 0, 0},
#endif
    {"vdso gettimeofday", ALL(function), "__vdso_gettimeofday", -1},
    {"vdso clock_gettime-monotonic", ALL(function), "__vdso_clock_gettime", CLOCK_MONOTONIC},
    {"vdso clock_gettime-realtime", ALL(function), "__vdso_clock_gettime", CLOCK_REALTIME},
    {"vdso clock_gettime-monotonic-raw", ALL(function), "__vdso_clock_gettime", CLOCK_MONOTONIC_RAW},
    {"vdso clock_gettime-monotonic-coarse", ALL(function), "__vdso_clock_gettime", CLOCK_MONOTONIC_COARSE},
    {"vdso clock_gettime-thread-cputime", ALL(function), "__vdso_clock_gettime", CLOCK_THREAD_CPUTIME_ID},
#ifndef __x86_64__
    {"vdso clock_gettime64-monotonic", ALL(function), "__vdso_clock_gettime64", CLOCK_MONOTONIC},
#endif
    {"vdso time", ALL(function), "__vdso_time", -1},
    {"vdso getcpu", ALL(function), "__vdso_getcpu", -1},
    {"libc gettimeofday", ALL(function), "gettimeofday", -1},
    {"libc clock_gettime-monotonic", ALL(function), "clock_gettime", CLOCK_MONOTONIC},
    {"libc clock_gettime-monotonic-coarse", ALL(function), "clock_gettime", CLOCK_MONOTONIC_COARSE},
    {"libc time", ALL(function), "time", -1},
    {"libc getppid", ALL(function), "getppid", -1},
};

static struct sample samples[SAMPLES], canaries[CANARIES];
/* Of each round: what a use cost by each way, the slowest of its canaries, its chains. */
static double costs[MOST][WAYS], slowest[MOST], chains[MOST];

static double interval(const struct sample *sample, int part)
{
	return (double)(sample->stamp[part + 1] - sample->stamp[part]);
}

static int compare(const void *left, const void *right)
{
	const double difference = *(const double *)left - *(const double *)right;
	return (difference > 0) - (difference < 0);
}

/* Sorts the values. */
static double quantile(double *values, int count, double share)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[(int)(share * (count - 1))];
}

/* Ticks of a use: the mean over the samples whose chain and control are not struck by an interrupt. */
static double cost(timed *way, int uses)
{
	double ordered[3][SAMPLES], sum = 0;
	int count = 0;

	way(samples, 8);
	way(samples, SAMPLES);
	for (int part = 0; part < 3; part++)
		for (int i = 0; i < SAMPLES; i++)
			ordered[part][i] = interval(&samples[i], part);
	const double chain = quantile(ordered[0], SAMPLES, 0.5), control = quantile(ordered[1], SAMPLES, 0.5);
	const double entry = quantile(ordered[2], SAMPLES, 0.5);
	for (int i = 0; i < SAMPLES; i++) {
		const struct sample *sample = &samples[i];
		/* Two steps of a counter of 100 MHz on a core of 5 GHz are 100 cycles. */
		if (interval(sample, 0) > chain * 1.15 || interval(sample, 1) > 2 * control + 100 ||
		    interval(sample, 2) > 2 * entry + 100)
			continue;
		sum += interval(sample, 2) - interval(sample, 1);
		count++;
	}
	return count ? sum / count / uses : -1;
}

static void take_canary(int round)
{
	canary(canaries, CANARIES);
	for (int i = 1; i < CANARIES; i++) {
		const double nots = interval(&canaries[i], 2);
		slowest[round] = nots > slowest[round] ? nots : slowest[round];
		chains[round] +=
		    (interval(&canaries[i], 1) - interval(&canaries[i], 0)) / 7 / (CANARIES - 1) / (WAYS + 1);
	}
}

static void take_round(const struct entry *entry, int round)
{
	slowest[round] = chains[round] = 0;
	take_canary(round);
	for (int turn = 0; turn < WAYS; turn++) {
		const int way = (round + turn) % WAYS;
		costs[round][way] = cost(entry->ways[way], way <= ONCE ? 1 : USES);
		take_canary(round);
	}
	for (int way = 0; way < WAYS; way++)
		costs[round][way] *= CHAIN_CYCLES / chains[round];
}

/* Prints the median of `values` and, where that is asked for, its interval by order statistics. */
static void print(double *values, int count, int has_interval)
{
	const double middle = quantile(values, count, 0.5), half = 0.98 / __builtin_sqrt(count);

	if (has_interval)
		printf("\t%+.2f\t%+.2f\t%+.2f", middle, quantile(values, count, 0.5 - half),
		       quantile(values, count, 0.5 + half));
	else
		printf("\t%.2f", middle);
}

static void measure(const struct entry *entry, int rounds)
{
	static double ordered[MOST], kept[MOST][WAYS];
	int count = 0;

	for (int round = 0; round < rounds; round++)
		take_round(entry, round);
	memcpy(ordered, slowest, sizeof(ordered));
	const double fast = quantile(ordered, rounds, 0.02);
	memcpy(ordered, chains, sizeof(ordered));
	const double usual = quantile(ordered, rounds, 0.25);
	for (int round = 0; round < rounds; round++)
		if (slowest[round] <= 1.05 * fast && __builtin_fabs(chains[round] / usual - 1) < 0.01)
			memcpy(kept[count++], costs[round], sizeof(costs[round]));
	printf("%s\t%d", entry->name, count);
	if (count < 30) {
		printf("\ttoo few\n");
		return;
	}
	for (int i = 0; i < count; i++)
		ordered[i] = kept[i][0];
	print(ordered, count, 0);
	for (int way = 1; way < WAYS; way++) {
		for (int i = 0; i < count; i++)
			ordered[i] = kept[i][way] - kept[i][0];
		print(ordered, count, 1);
	}
	printf("\n");
	fflush(stdout);
}

/* Whether there is such a function, and now it is the target. */
static int prepare(const struct entry *entry)
{
	void *vdso = dlopen(VDSO, RTLD_LAZY | RTLD_NOLOAD);

	memset(arguments, 0, sizeof(*arguments) * 5);
	if (!entry->function)
		return 1;
	const int is_of_vdso = !strncmp(entry->function, "__vdso", 6);
	arguments[0] = entry->clock < 0 ? (unsigned long)&answer : (unsigned long)entry->clock;
	arguments[1] = entry->clock < 0 ? 0 : (unsigned long)&answer;
	if (!*entry->function)
		target = (void *)empty;
	else
		target = is_of_vdso && !vdso ? 0 : dlsym(is_of_vdso ? vdso : RTLD_DEFAULT, entry->function);
	return target != 0;
}

int main(int count, char **words)
{
	const int cpu = count >= 3 ? atoi(words[1]) : -1, rounds = count >= 3 ? atoi(words[2]) : 0;
	cpu_set_t one;

	if (cpu < 0 || rounds < 1 || rounds > MOST) {
		fprintf(stderr, "usage: uses CPU ROUNDS [ENTRY], at most %d rounds\n", MOST);
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one)) {
		perror("uses");
		return 1;
	}
	printf("entry\trounds\tone\tloose\tfrom\tto\tstamped\tfrom\tto\tloosely\tfrom\tto\tchained\tfrom\tto"
	       "\tfenced\tfrom\tto"
	       "\tunfenced\tfrom\tto\n");
	for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if ((count < 4 || strstr(entries[i].name, words[3])) && prepare(&entries[i]))
			measure(&entries[i], rounds);
	return 0;
}

/*
 * Is a system call's cost that of the process, or of the moment? Some processes are alive at once, on one CPU, and are asked in turns, several
 * times, what a call costs. What keeps to a process is where its data is in memory: its kernel stack, its task, its pages. No
 * measurement with new processes can repeat more exactly than processes differ.
 *
 *	placement CPU PROCESSES TURNS	prints a line for each process: a cost for each turn, getppid, in core cycles
 *
 * A cost is the median of loops of 200 calls, each beside a chain of 1000 imuls (3000 core cycles on all processors that bench/ knows),
 * over the loops whose chain was within 1 % of the fastest quarter. Nothing is subtracted.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

enum { LOOPS = 600, CALLS = 200, LINKS = 1000, LINK_CYCLES = 3, MOST = 64 };

static uint64_t stamp(void)
{
	_mm_lfence();
	const uint64_t now = __rdtsc();
	_mm_lfence();
	return now;
}

static uint64_t chain(void)
{
	uint64_t link = 3;
	const uint64_t start = stamp();

	for (int i = 0; i < LINKS; i++)
		__asm__ volatile("imul %0, %0" : "+r"(link));
	return stamp() - start;
}

static uint64_t calls(void)
{
	const uint64_t start = stamp();

	for (int i = 0; i < CALLS; i++) {
		long result;
		__asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getppid) : "rcx", "r11", "memory");
	}
	return stamp() - start;
}

static int compare(const void *left, const void *right)
{
	const double difference = *(const double *)left - *(const double *)right;
	return (difference > 0) - (difference < 0);
}

/* Of values, which are sorted. */
static double quantile(double *values, int count, double share)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[(int)(share * (count - 1))];
}

static double cost(void)
{
	static double chains[LOOPS], ordered[LOOPS], loops[LOOPS], kept[LOOPS];
	int count = 0;

	for (int i = 0; i < LOOPS; i++) {
		ordered[i] = chains[i] = (double)chain();
		loops[i] = (double)calls();
	}
	const double quiet = quantile(ordered, LOOPS, 0.25);
	for (int i = 0; i < LOOPS; i++)
		if (chains[i] <= quiet * 1.01)
			kept[count++] = loops[i] / CALLS / chains[i] * LINKS * LINK_CYCLES;
	return quantile(kept, count, 0.5);
}

/* A process that answers each byte with one, when its next cost is there. */
static void serve(int asked, int answered, volatile double *costs)
{
	char byte;

	while (read(asked, &byte, 1) == 1) {
		*costs++ = cost();
		if (write(answered, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

int main(int count, char **words)
{
	const int cpu = count == 4 ? atoi(words[1]) : -1;
	const int processes = count == 4 ? atoi(words[2]) : 0, turns = count == 4 ? atoi(words[3]) : 0;
	int ask[MOST][2], answer[MOST][2];
	cpu_set_t one;

	if (cpu < 0 || processes < 1 || processes > MOST || turns < 1 || turns > MOST) {
		fprintf(stderr, "usage: placement CPU PROCESSES TURNS, at most %d each\n", MOST);
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	volatile double *costs =
	    mmap(0, MOST * MOST * sizeof(*costs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (costs == MAP_FAILED || sched_setaffinity(0, sizeof(one), &one)) {
		perror("placement");
		return 1;
	}
	for (int i = 0; i < processes; i++) {
		if (pipe(ask[i]) || pipe(answer[i])) {
			perror("placement");
			return 1;
		}
		const pid_t child = fork();
		if (child < 0) {
			perror("placement");
			return 1;
		}
		if (!child) {
			/* An end that stays open would keep its reader waiting when the parent is gone. */
			for (int j = 0; j <= i; j++)
				close(ask[j][1]);
			serve(ask[i][0], answer[i][1], costs + i * MOST);
		}
		close(answer[i][1]);
	}
	for (int turn = 0; turn < turns; turn++)
		for (int i = 0; i < processes; i++) {
			char byte = 0;
			if (write(ask[i][1], &byte, 1) != 1 || read(answer[i][0], &byte, 1) != 1) {
				fprintf(stderr, "placement: process %d ended\n", i);
				return 1;
			}
		}
	for (int i = 0; i < processes; i++) {
		for (int turn = 0; turn < turns; turn++)
			printf("%.2f%c", costs[i * MOST + turn], turn + 1 < turns ? ',' : '\n');
	}
	return 0;
}

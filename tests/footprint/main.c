/*
 * What the probe's code makes of an entry whose eviction is known.
 *
 *	main LINES EVICTED
 *
 * The entry throws EVICTED lines out of the caches: first those of a footprint of LINES lines, then others. Prints what the entry costs
 * without the footprint and with it, in ticks, each the median of samples.
 */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 401
#define WARM	16

struct invocation invocations[MOST_CALLS];
uint64_t registers_before[MOST_CALLS][REGISTERS], registers_after[MOST_CALLS][REGISTERS], stamps[5];
struct sample *sample_out;
uint32_t sample_count;

void evicts_timed(struct sample *out, unsigned long count);
void evicts_among(struct sample *out, unsigned long count);
void evict(void);

static uint8_t others[MAX_LINES][LINE] __attribute__((aligned(4096)));
static const void *evicted[MAX_LINES];
static unsigned long evicted_count;

_Noreturn void emit_refusal(uint64_t outcome, uint64_t cause, uint64_t d0, uint64_t d1, uint64_t d2,
			    uint64_t d3)
{
	(void)outcome, (void)cause, (void)d1, (void)d2, (void)d3;
	fprintf(stderr, "errno %lu\n", (unsigned long)d0);
	exit(1);
}

void evict(void)
{
	for (unsigned long i = 0; i < evicted_count; i++)
		__asm__ volatile("clflush (%0)" : : "r"(evicted[i]) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}

static void choose(unsigned long lines, unsigned long count)
{
	const unsigned long *at = (const unsigned long *)footprint;

	for (unsigned long i = 0; i < count; i++) {
		evicted[i] = i < lines ? (const void *)at : others[i];
		if (i < lines)
			at = (const unsigned long *)*at;
	}
	evicted_count = count;
}

static int by_size(const void *a, const void *b)
{
	const long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static long long cost(void (*timed)(struct sample *, unsigned long))
{
	static struct sample samples[SAMPLES];
	static long long each[SAMPLES];

	timed(samples, WARM);
	timed(samples, SAMPLES);
	for (unsigned i = 0; i < SAMPLES; i++) {
		const uint64_t *stamp = samples[i].stamp;
		each[i] = (long long)(stamp[3] - stamp[2]) - (long long)(stamp[2] - stamp[1]);
	}
	qsort(each, SAMPLES, sizeof(each[0]), by_size);
	return each[SAMPLES / 2];
}

int main(int argc, char **argv)
{
	const struct request request = {.lines = argc == 3 ? strtoul(argv[1], 0, 10) : 0};

	if (!request.lines)
		return 2;
	footprint_prepare(&request);
	for (unsigned i = 0; i < MAX_LINES; i++)
		others[i][0] = 1;
	choose(request.lines, strtoul(argv[2], 0, 10));
	const long long alone = cost(evicts_timed);
	printf("%lld %lld\n", alone, cost(evicts_among));
	return 0;
}

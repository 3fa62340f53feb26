/*
 * A footprint: memory that a program is said to use between two entries. Its pages and lines are a chain, each of which tells where
 * the next is; touch.S follows it.
 *
 *	pages	one load in each. Page i is touched in its line 37 i modulo 64: 64 pages in a row use every set of a first-level
 *		cache once, as memory of a program does, and not one set 64 times.
 *	lines	lie side by side, so that there are few pages: all that is dear about them is the cache's.
 *
 * The chain goes through all of them in a drawn order: no load is a step away from the one before it, for a prefetcher to guess. The
 * pages are written in another order before, so that those beside each other in the program are not beside each other in
 * memory, where some processors keep them as one translation. They are small ones, which is why no huge page may take their place.
 */
#include "probe.h"

#include <linux/errno.h>

#define LINES_IN_PAGE (PAGE / LINE)
#define LINE_STEP     37 /* odd, so that 64 pages have 64 different lines */
#define SEED	      0x2545f491u

_Static_assert(MAX_LINES % LINES_IN_PAGE == 0, "whole pages");

unsigned long footprint;

static uint8_t memory[MAX_PAGES * PAGE + MAX_LINES * LINE] __attribute__((aligned(4096)));
static unsigned long *chain[MAX_PAGES + MAX_LINES];

static uint32_t drawn = SEED;

/* From 0 to `below` - 1 (Marsaglia, Xorshift RNGs; the product's upper half instead of a remainder). */
static unsigned long draw(unsigned long below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 17;
	drawn ^= drawn << 5;
	return (unsigned long)((uint64_t)drawn * below >> 32);
}

static void shuffle(unsigned long count)
{
	for (unsigned long i = count; i > 1; i--) {
		const unsigned long other = draw(i);
		unsigned long *const last = chain[i - 1];
		chain[i - 1] = chain[other];
		chain[other] = last;
	}
}

/* The places of all loads; returns how many there are. */
static unsigned long lay_out(const struct request *request)
{
	unsigned long count = 0;

	for (unsigned long i = 0; i < request->pages; i++)
		chain[count++] = (unsigned long *)(memory + i * PAGE + i * LINE_STEP % LINES_IN_PAGE * LINE);
	for (unsigned long i = 0; i < request->lines; i++)
		chain[count++] = (unsigned long *)(memory + MAX_PAGES * PAGE + i * LINE);
	return count;
}

void footprint_prepare(const struct request *request)
{
	const unsigned long count = lay_out(request);

	/* A kernel without huge pages does not know the advice. */
	const long result = system_call(NR_MADVISE, (long)memory, sizeof(memory), MADV_NOHUGEPAGE, 0, 0, 0);
	if (result && result != -EINVAL)
		emit_refusal(OUTCOME_ERROR, CAUSE_ERRNO, (uint64_t)-result, 0, 0, 0);
	shuffle(count);
	for (unsigned long i = 0; i < count; i++)
		*chain[i] = 0;
	shuffle(count);
	for (unsigned long i = 0; i + 1 < count; i++)
		*chain[i] = (unsigned long)chain[i + 1];
	footprint = (unsigned long)chain[0];
}

/* Which of several frequencies is true. */
#include "time/estimate.h"

/* Nominal frequencies of CPUID are rounded to some MHz. */
#define TOLERANCE 100 /* a hundredth */

/* What all shots leave that hold at one frequency, and how many do. */
static unsigned hold_at(const struct bounds *shots, unsigned count, uint64_t hertz, struct bounds *left)
{
	unsigned holding = 0;

	*left = (struct bounds){0, UINT64_MAX};
	for (unsigned i = 0; i < count; i++) {
		if (hertz < shots[i].low || hertz > shots[i].high)
			continue;
		left->low = shots[i].low > left->low ? shots[i].low : left->low;
		left->high = shots[i].high < left->high ? shots[i].high : left->high;
		holding++;
	}
	return holding;
}

/* Marzullo's algorithm: where most intervals overlap, one of them begins. */
struct bounds estimate_agreed(const struct bounds *shots, unsigned count)
{
	struct bounds agreed = {0, 0};
	unsigned most = count / 2;

	for (unsigned i = 0; i < count; i++) {
		struct bounds left;
		const unsigned holding = hold_at(shots, count, shots[i].low, &left);

		if (holding > most) {
			most = holding;
			agreed = left;
		}
	}
	return agreed;
}

static uint64_t middle(struct bounds bounds)
{
	return bounds.low + (bounds.high - bounds.low) / 2;
}

static int contradicts(struct bounds bounds, uint64_t hertz)
{
	return bounds.low > hertz + hertz / TOLERANCE || bounds.high < hertz - hertz / TOLERANCE;
}

struct tsc estimate_choose(const struct answer *answers, unsigned count)
{
	struct tsc tsc = {0};

	for (unsigned i = 0; i < count; i++) {
		const struct answer answer = answers[i];

		if (!answer.hertz.high)
			continue;
		if (!tsc.hertz) {
			tsc.hertz = middle(answer.hertz);
			tsc.source = answer.source;
		} else if (!tsc.other_hertz && contradicts(answer.hertz, tsc.hertz)) {
			tsc.other_hertz = middle(answer.hertz);
			tsc.other = answer.source;
		}
	}
	return tsc;
}

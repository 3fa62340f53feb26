/*
 * Reads the records of a probe, and makes figures of them. Nothing in them is trusted, because the probe may have failed while
 * it wrote. Nothing here touches hardware, so that tests compile it for the host.
 *
 * Core cycles come from the clock chain, as in crates/stats/src/quiet.rs. An interval around it has the stamps in it, which take
 * about 40 core cycles beside the chain's 768. Chains in a row (RECORD_ORDER) tell how much that is: by how much several take
 * longer than one is the chains' alone.
 */
#include "plan/reading.h"

#define STAMPS_OF_SAMPLE 4
#define STAMPS_OF_CANARY 5
#define CANARY_BYTES	 ((STAMPS_OF_CANARY + 2) * sizeof(uint64_t))
#define IMUL_CYCLES	 3

/* Means are in parts of a tick, full chains in parts of a core cycle. */
#define PARTS 256

/* How far a chain of imul may be from three of xor, and chains in a row from single ones: one part of so many. */
#define CHAIN_SLACK 32
#define ORDER_SLACK 10

/* Longer pieces of code are no probe's; with these bounds products stay below 2^64. */
#define MOST_INSTRUCTIONS 4096
#define MOST_CHAINS	  64

static uint32_t sample_values[3][READING_SAMPLES], canary_values[3][READING_CANARIES],
    order_values[3][READING_ORDERS];

static struct intervals room_for(uint32_t *first, unsigned room)
{
	return (struct intervals){{first, first + room, first + 2 * room}, 0, room};
}

static void take_begin(struct reading *reading, const uint8_t *payload)
{
	uint64_t lengths[6]; /* bits, imuls, xors, nots, calls in a burst, chains in a row */

	__builtin_memcpy(lengths, payload, sizeof(lengths));
	if (lengths[1] > MOST_INSTRUCTIONS || lengths[2] > MOST_INSTRUCTIONS || lengths[5] > MOST_CHAINS)
		return;
	reading->imuls = (unsigned)lengths[1];
	reading->xors = (unsigned)lengths[2];
	reading->chains = (unsigned)lengths[5];
}

/* Records of `size` bytes each, which begin with stamps. */
static void take(struct intervals *intervals, const uint8_t *payload, uint64_t bytes, uint64_t size)
{
	uint64_t stamps[STAMPS_OF_SAMPLE];

	for (; bytes >= size && intervals->count < intervals->room; bytes -= size, payload += size) {
		__builtin_memcpy(stamps, payload, sizeof(stamps));
		for (unsigned part = 0; part < 3; part++) {
			const uint64_t ticks = stamps[part + 1] - stamps[part];
			intervals->values[part][intervals->count] =
			    ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
		}
		intervals->count++;
	}
}

uint64_t reading_take(struct reading *reading, const uint8_t *bytes, uint64_t count)
{
	uint64_t outcome = OUTCOME_ERROR, at = 0;
	struct record_header header;

	*reading = (struct reading){
	    .samples = room_for(sample_values[0], READING_SAMPLES),
	    .canaries = room_for(canary_values[0], READING_CANARIES),
	    .orders = room_for(order_values[0], READING_ORDERS),
	};
	while (count - at >= sizeof(header)) {
		__builtin_memcpy(&header, bytes + at, sizeof(header));
		at += sizeof(header);
		if (header.magic != RECORD_MAGIC || header.version != RECORD_VERSION ||
		    header.length > count - at)
			return OUTCOME_ERROR;
		const uint8_t *payload = bytes + at;
		at += header.length;
		if (header.kind == RECORD_OUTCOME && header.length >= sizeof(outcome))
			__builtin_memcpy(&outcome, payload, sizeof(outcome));
		if (header.kind == RECORD_BEGIN && header.length >= 6 * sizeof(uint64_t))
			take_begin(reading, payload);
		if (header.kind == RECORD_CANARY)
			take(&reading->canaries, payload, header.length, CANARY_BYTES);
		if (header.kind == RECORD_SAMPLES)
			take(&reading->samples, payload, header.length, STAMPS_OF_SAMPLE * sizeof(uint64_t));
		if (header.kind == RECORD_ORDER)
			take(&reading->orders, payload, header.length, STAMPS_OF_SAMPLE * sizeof(uint64_t));
	}
	return outcome;
}

/* Insertion sort, ascending: most values are equal. */
static void sort(uint32_t *values, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		const uint32_t value = values[i];
		unsigned at = i;
		for (; at && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* The counter's step, of which all intervals are multiples: up to some 50 ticks. */
static uint64_t step_of(const struct reading *reading)
{
	const struct intervals *const kinds[] = {&reading->samples, &reading->canaries, &reading->orders};
	uint64_t step = 0;

	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned part = 0; part < 3; part++)
			for (unsigned i = 0; i < kinds[kind]->count; i++)
				step = greatest_common_divisor(step, kinds[kind]->values[part][i]);
	return step;
}

/*
 * The mean of the intervals that are near their median, in PARTS of a tick; 0 without any. Interrupts and rare ways are not near.
 * A mean, because the steps of a coarse counter even out in it; an interval is off by less than two of them.
 */
static uint64_t usual(const struct intervals *intervals, unsigned part, uint64_t step)
{
	uint32_t *const values = intervals->values[part];
	uint64_t sum = 0, near = 0;

	sort(values, intervals->count);
	const uint64_t median = intervals->count ? values[intervals->count / 2] : 0;
	const uint64_t slack = median / 8 + 2 * step;
	for (unsigned i = 0; i < intervals->count; i++)
		if (values[i] + slack >= median && values[i] <= median + slack) {
			sum += values[i];
			near++;
		}
	return near ? sum * PARTS / near : 0;
}

/* Whether two numbers differ by no more than a part of the second. */
static int are_near(uint64_t a, uint64_t b, unsigned slack)
{
	return (a > b ? a - b : b - a) <= b / slack;
}

static int64_t rounded(uint64_t magnitude, uint64_t by, int negative)
{
	const int64_t quotient = (int64_t)((magnitude + by / 2) / by);

	return negative ? -quotient : quotient;
}

/* What a chain takes without its stamps, where chains in a row agree with single ones; 0 where they do not. */
static uint64_t bare_chain(struct reading *reading, uint64_t step)
{
	const uint64_t nothing = usual(&reading->orders, 0, step), one = usual(&reading->orders, 1, step);
	const uint64_t many = usual(&reading->orders, 2, step);

	if (reading->chains < 2 || one <= nothing || many <= one ||
	    !are_near(many - nothing, (one - nothing) * reading->chains, ORDER_SLACK))
		return 0;
	return (many - one) / (reading->chains - 1);
}

/* An imul takes three cycles if it takes as long as three xors, which take one each. */
static int chain_holds(struct reading *reading, uint64_t stamps, uint64_t step)
{
	const uint64_t imuls = usual(&reading->canaries, 1, step), xors = usual(&reading->canaries, 2, step);

	return imuls > stamps && xors > stamps && reading->imuls && reading->xors &&
	       are_near((imuls - stamps) * reading->xors, (xors - stamps) * reading->imuls * IMUL_CYCLES,
			CHAIN_SLACK);
}

struct figures reading_figures(struct reading *reading)
{
	const uint64_t step = step_of(reading), bare = bare_chain(reading, step);
	const uint64_t one = usual(&reading->orders, 1, step), chain = usual(&reading->samples, 0, step);
	const uint64_t control = usual(&reading->samples, 1, step), entry = usual(&reading->samples, 2, step);
	const int negative = entry < control;
	const uint64_t ticks = negative ? control - entry : entry - control;
	struct figures figures = {.ticks = rounded(ticks, PARTS, negative), .ordered = bare != 0};

	if (!bare || bare > one || !chain || !chain_holds(reading, one - bare, step))
		return figures;
	/* Core cycles of a chain and its stamps; the clock may have changed since chains in a row were timed. */
	const uint64_t full = PARTS * IMUL_CYCLES * reading->imuls * one / bare;
	figures.cycles = rounded(ticks * full, chain * PARTS, negative);
	figures.clock = (full * CLOCK_TICKS + chain / 2) / chain;
	figures.has_cycles = 1;
	return figures;
}

/* Reads the records of a probe. Nothing in them is trusted, because the probe may have failed while it wrote. */
#include "plan/reading.h"

#define STAMPS_OF_SAMPLE 4
#define STAMPS_OF_CANARY 5
#define SLACK		 32

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

uint32_t reading_median(struct reading *reading, unsigned part)
{
	sort(reading->intervals[part], reading->samples);
	return reading->intervals[part][reading->samples / 2];
}

static void take_begin(struct reading *reading, const uint8_t *payload)
{
	uint64_t lengths[3]; /* bits, imuls, xors */

	__builtin_memcpy(lengths, payload, sizeof(lengths));
	reading->imuls = (unsigned)lengths[1];
	reading->xors = (unsigned)lengths[2];
}

/* Stamps around nothing, the imul chain, the xor chain. */
static void take_canary(struct reading *reading, const uint8_t *payload)
{
	uint64_t stamps[STAMPS_OF_CANARY];

	__builtin_memcpy(stamps, payload, sizeof(stamps));
	const uint64_t empty = stamps[1] - stamps[0];
	const uint64_t imul = (stamps[2] - stamps[1] - empty) * reading->xors;
	const uint64_t xor = (stamps[3] - stamps[2] - empty) * reading->imuls * 3;
	const uint64_t apart = imul > xor? imul - xor : xor-imul;

	reading->chain_holds = apart <= xor / SLACK;
}

static void take_samples(struct reading *reading, const uint8_t *payload, uint64_t bytes)
{
	uint64_t stamps[STAMPS_OF_SAMPLE];

	for (uint64_t at = 0; at + sizeof(stamps) <= bytes && reading->samples < READING_SAMPLES;
	     at += sizeof(stamps)) {
		__builtin_memcpy(stamps, payload + at, sizeof(stamps));
		for (unsigned part = 0; part < 3; part++)
			reading->intervals[part][reading->samples] =
			    (uint32_t)(stamps[part + 1] - stamps[part]);
		reading->samples++;
	}
}

uint64_t reading_take(struct reading *reading, const uint8_t *bytes, uint64_t count)
{
	uint64_t outcome = OUTCOME_ERROR, at = 0;
	struct record_header header;

	reading->samples = reading->imuls = reading->xors = 0;
	reading->chain_holds = 0;
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
		if (header.kind == RECORD_BEGIN && header.length >= 3 * sizeof(uint64_t))
			take_begin(reading, payload);
		if (header.kind == RECORD_CANARY && header.length >= STAMPS_OF_CANARY * sizeof(uint64_t))
			take_canary(reading, payload);
		if (header.kind == RECORD_SAMPLES)
			take_samples(reading, payload, header.length);
	}
	return outcome;
}

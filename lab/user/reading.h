/* What a probe's records say (abi/record.h, abi/request.h), as far as the table needs it. */
#pragma once

#include <stdint.h>

#define READING_SAMPLES (256 * 64)

struct reading {
	uint32_t intervals[3][READING_SAMPLES]; /* around the imul chain, the control, the entry; ticks */
	unsigned samples, imuls, xors;
	int chain_holds; /* an imul takes as long as three xors, within one part in 32 */
};

/* Outcomes, and the arguments of a probe. */
#define READING_OK	    0
#define READING_UNSUPPORTED 1
#define READING_REFUSED	    2
#define READING_FAULT	    3
#define READING_MISMATCH    4
#define READING_ERROR	    5
#define READING_ENTRY	    2
#define READING_OPERATION   3

/* Reads all records; the outcome that they tell, READING_ERROR when they are none. */
uint64_t reading_take(struct reading *reading, const uint8_t *bytes, uint64_t count);
uint32_t reading_median(struct reading *reading, unsigned part);

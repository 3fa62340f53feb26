/* What a probe's records say (abi/record.h, abi/request.h), as far as the table needs it. */
#pragma once

#include "record.h"
#include "request.h"

#include <stdint.h>

#define READING_SAMPLES (MAX_BLOCKS * BLOCK_SAMPLES)

struct reading {
	uint32_t intervals[3][READING_SAMPLES]; /* around the imul chain, the control, the entry; ticks */
	unsigned samples, imuls, xors;
	int chain_holds; /* an imul takes as long as three xors, within one part in 32 */
};

/* Reads all records. Returns their outcome; OUTCOME_ERROR when these are not records. */
uint64_t reading_take(struct reading *reading, const uint8_t *bytes, uint64_t count);
uint32_t reading_median(struct reading *reading, unsigned part);

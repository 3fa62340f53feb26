/* What a probe's records say (abi/record.h, abi/request.h), as far as the table needs it. */
#pragma once

#include "record.h"
#include "request.h"

#include <stdint.h>

#define READING_SAMPLES	 (MAX_BLOCKS * BLOCK_SAMPLES)
#define READING_CANARIES (MAX_BLOCKS + 2)
#define READING_ORDERS	 32

/* Intervals of one kind of record, in ticks: three between the stamps of each. */
struct intervals {
	uint32_t *values[3];
	unsigned count, room;
};

struct reading {
	struct intervals samples;  /* around the imul chain, the control, the entry */
	struct intervals canaries; /* around nothing, the imul chain, the xor chain */
	struct intervals orders;   /* around nothing, one imul chain, several in a row */
	unsigned imuls, xors, chains;
};

#define CLOCK_TICKS 1000

/* What an entry takes, its control subtracted. */
struct figures {
	int64_t ticks, cycles;
	uint64_t clock; /* core cycles in CLOCK_TICKS ticks, by the clock chain */
	int ordered;	/* ticks mean something: lfence orders rdtsc */
	int has_cycles; /* so do core cycles: an imul takes as long as three xors */
};

/* Reads all records. Returns their outcome; OUTCOME_ERROR when these are not records. */
uint64_t reading_take(struct reading *reading, const uint8_t *bytes, uint64_t count);
/* Of a reading with samples. */
struct figures reading_figures(struct reading *reading);

/* Judges what several sources say of one frequency. Nothing here touches hardware, so that tests compile estimate.c for the host. */
#pragma once

#include <stdint.h>

/* A frequency, hertz, that lies between the two; high 0: not known. */
struct bounds {
	uint64_t low, high;
};

static inline struct bounds exactly(uint64_t hertz)
{
	return (struct bounds){hertz, hertz};
}

/* What most of several measurements agree on, narrowed by each of them; not known when no more than half agree. */
struct bounds estimate_agreed(const struct bounds *shots, unsigned count);

struct answer {
	uint32_t source; /* TSC_FROM_* */
	struct bounds hertz;
};

struct tsc {
	uint64_t hertz; /* 0: not known */
	uint32_t source;
	uint64_t other_hertz; /* of the first source that contradicts; 0: none does */
	uint32_t other;
};

/* The first answer that is known, and the first after it that differs by more than 1 %. */
struct tsc estimate_choose(const struct answer *answers, unsigned count);

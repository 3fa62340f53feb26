/* As index-mask.inc, for C. */
#pragma once

#include <stdint.h>

/* All bits if the index is less, else 0. */
static inline uint64_t index_mask(uint64_t index, uint64_t bound)
{
	uint64_t mask;

	__asm__("cmp %2, %1\n\tsbb %0, %0" : "=r"(mask) : "r"(index), "ri"(bound) : "cc");
	return mask;
}

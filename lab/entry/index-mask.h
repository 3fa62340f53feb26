/* As index-mask.inc, for C. */
#pragma once

#include "word.h"

/* All bits if the index is less, else 0. */
static inline word index_mask(word index, word bound)
{
	word mask;

	__asm__("cmp %2, %1\n\tsbb %0, %0" : "=r"(mask) : "r"(index), "ri"(bound) : "cc");
	return mask;
}

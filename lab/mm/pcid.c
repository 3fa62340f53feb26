/*
 * Identifiers of address spaces (PCID; SDM vol. 3, 4.10.1). The TLB keeps translations of several, so that a change of page tables
 * flushes none; an identifier that goes to another address space must be flushed first.
 *
 * When no pair is left, a generation ends, and all pairs with it: nobody needs to know which address spaces are alive, or
 * which has not run for longest, and each gets a new pair when it runs next.
 */
#include "mm/mm.h"

uint32_t pcid_pairs = PCID_PAIRS;
static uint64_t generation = 1;
static uint32_t given; /* pairs of this generation */

void pcids_forget(void)
{
	generation++;
	given = 0;
}

int pcid_take(struct pcid *of)
{
	if (of->generation == generation)
		return 0;
	if (given == pcid_pairs)
		pcids_forget();
	of->generation = generation;
	of->pair = given++;
	return 1;
}

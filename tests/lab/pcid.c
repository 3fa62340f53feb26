/*
 * lab/mm/pcid.c for the host: PAIRS WORD ...; a word is the number of an address space that the processor goes to, or e and the
 * number of one that ends, whose place a new one takes; or f: all that is cached is void. Prints, for each number, the pair
 * that it has, and whether it must be flushed.
 */
#include "mm/mm.h"

#include <stdio.h>
#include <stdlib.h>

#define SPACES 8

extern uint32_t pcid_pairs;

int main(int count, char **arguments)
{
	static struct pcid spaces[SPACES];

	pcid_pairs = (uint32_t)atoi(arguments[1]);
	for (int i = 2; i < count; i++) {
		const char *word = arguments[i];
		if (*word == 'f') {
			pcids_forget();
			continue;
		}
		struct pcid *space = &spaces[atoi(word + (*word == 'e')) % SPACES];
		if (*word == 'e') {
			space->generation = 0;
			continue;
		}
		const int is_new = pcid_take(space);
		printf("%u %d\n", space->pair, is_new);
	}
	return 0;
}

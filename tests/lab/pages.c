/*
 * lab/mm/pages.c for the host: LAYOUT PAGES. Prints the physical pages that a program takes, those that the next one takes, and
 * those that are taken for good meanwhile; each until there are none or so many. Then how many are left, and how many in another
 * layout.
 */
#include "mm/mm.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY (4ul << 20)

static uint8_t memory[MEMORY] __attribute__((aligned(4096)));
#define physical_to_virtual(physical) ((void *)(memory + ((physical)-MEMORY)))
#include "mm/pages.c"

static void print(uint64_t (*take)(void), unsigned count)
{
	uint64_t page;

	while (count-- && (page = take()))
		printf("%lu ", page / PAGE);
	printf("\n");
}

int main(int count, char **arguments)
{
	if (count < 3)
		return 1;
	const unsigned pages = (unsigned)atoi(arguments[2]);
	pages_init(MEMORY, 2 * MEMORY);
	page_take();
	pages_keep();
	pages_set_layout(strtoull(arguments[1], 0, 10));
	pages_release();
	print(page_take, pages);
	pages_release();
	print(page_take, pages);
	print(page_take_for_good, pages);
	printf("%lu\n", pages_left() / PAGE);
	pages_set_layout(0);
	printf("%lu\n", pages_left() / PAGE);
	return 0;
}

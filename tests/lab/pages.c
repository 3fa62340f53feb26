/*
 * lab/mm/pages.c and cache.c for the host: LAYOUT PAGES FILE_PAGES... Prints the physical pages that a program takes, those that the
 * next one takes, each until there are none or so many; and those of the cache's places. Then how many are left, and how many in
 * another layout. Then where the cache has each of these pages of a file, in this order.
 */
#include "mm/mm.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY (32ul << 20)

static uint8_t memory[MEMORY] __attribute__((aligned(4096)));
#define physical_to_virtual(physical) ((void *)(memory + (-MEMORY + (physical))))
#include "mm/pages.c"

#include "mm/cache.c"

#define FILE_PAGES 100
static uint8_t file[FILE_PAGES * PAGE] __attribute__((aligned(4096)));

static void print(uint64_t (*take)(void), unsigned count)
{
	uint64_t page;

	while (count-- && (page = take()))
		printf("%lu ", page / PAGE);
	printf("\n");
}

/* Each is filled from the file, and found again. */
static void print_cached(int count, char **numbers)
{
	const struct source source = {file, sizeof(file), 0};

	for (uint64_t i = 0; i < sizeof(file); i++)
		file[i] = (uint8_t)(i / PAGE);
	cache_begin(file);
	for (int i = 0; i < count; i++) {
		const uint64_t page = strtoull(numbers[i], 0, 10),
			       physical = cache_page(&source, page * PAGE);
		const uint8_t *const bytes = physical_to_virtual(physical);
		if (bytes[0] != page || bytes[PAGE - 1] != page ||
		    cache_page(&source, page * PAGE) != physical)
			abort();
		printf("%lu ", physical / PAGE);
	}
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
	const uint64_t layout = strtoull(arguments[1], 0, 10);
	pages_set_layout(layout);
	pages_release();
	print(page_take, pages);
	pages_release();
	print(page_take, pages);
	for (uint64_t place = 0; place < CACHE_PLACES; place++)
		printf("%lu ", page_of_cache(place) / PAGE);
	printf("\n");
	printf("%lu\n", pages_left() / PAGE);
	pages_set_layout(0);
	printf("%lu\n", pages_left() / PAGE);
	pages_set_layout(layout);
	print_cached(count - 3, arguments + 3);
	return 0;
}

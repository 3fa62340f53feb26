/* Physical pages: a program's are taken from below, permanent ones from above. */
#include "mm/mm.h"

static uint64_t next, end, kept;
static uint64_t freed; /* the first of a chain through the pages themselves */

void pages_init(uint64_t from, uint64_t to)
{
	next = align_up(from, PAGE);
	end = to & ~(PAGE - 1);
	kept = next;
}

uint64_t page_take(void)
{
	uint64_t page = freed;

	if (page) {
		freed = *(uint64_t *)physical_to_virtual(page);
	} else {
		if (next >= end)
			return 0;
		page = next;
		next += PAGE;
	}
	__builtin_memset(physical_to_virtual(page), 0, PAGE);
	return page;
}

void page_free(uint64_t page)
{
	*(uint64_t *)physical_to_virtual(page) = freed;
	freed = page;
}

uint64_t page_take_for_good(void)
{
	if (end - next < PAGE)
		return 0;
	end -= PAGE;
	return end;
}

int page_is_for_good(uint64_t page)
{
	return page < kept || page >= end;
}

uint64_t pages_left(void)
{
	return end - next;
}

void pages_keep(void)
{
	kept = next;
}

void pages_release(void)
{
	next = kept;
	freed = 0;
}

/*
 * Physical pages: a program's are taken from below, permanent ones from above. A layout skips some before the first, and up to
 * GAP behind each: which set of a cache a page falls into depends on its physical address.
 */
#include "mm/mm.h"
#include "user/user.h"

#define GAP   3	 /* pages; a mask, as is the next */
#define FIRST 63 /* pages; a way of a second-level cache has 16 to 64 */

/* Knuth's MMIX: the upper bits are good, and a page costs two instructions more. */
#define FACTOR	  6364136223846793005u
#define INCREMENT 1442695040888963407u
#define GAP_SHIFT 62

static uint64_t next, end, top, kept;
static uint64_t freed; /* the first of a chain through the pages themselves */

/* Masks that are 0 without a layout, so that each layout takes the same instructions. */
static struct {
	uint64_t first, gap, seed, of_program, for_good;
} drawn;

static uint64_t gap(uint64_t *state)
{
	*state = *state * FACTOR + INCREMENT;
	return (*state >> GAP_SHIFT & drawn.gap) * PAGE;
}

void pages_init(uint64_t from, uint64_t to)
{
	next = align_up(from, PAGE);
	end = top = to & ~(PAGE - 1);
	kept = next;
}

void pages_set_layout(uint64_t drawn_from)
{
	const uint64_t mixed = random_mixed(drawn_from);

	drawn.gap = drawn_from ? GAP : 0;
	drawn.first = drawn_from ? mixed & FIRST : 0;
	drawn.seed = mixed;
	drawn.for_good = ~mixed;
	end = top;
	pages_release();
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
		next += PAGE + gap(&drawn.of_program);
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
	const uint64_t skipped = gap(&drawn.for_good);

	if (end < next + PAGE + skipped)
		return 0;
	end -= PAGE + skipped;
	return end;
}

int page_is_for_good(uint64_t page)
{
	return page < kept || page >= end;
}

uint64_t pages_left(void)
{
	return next < end ? end - next : 0;
}

void pages_keep(void)
{
	kept = next;
}

void pages_release(void)
{
	/* The same pages for every program of a layout. */
	next = kept + drawn.first * PAGE;
	drawn.of_program = drawn.seed;
	freed = 0;
}

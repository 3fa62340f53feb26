/*
 * Physical pages: first those of the cache, then the kernel's, then a program's. A layout shuffles the first, and of the last skips
 * some before the first and up to GAP behind each: which set of a processor's cache a page falls into depends on its physical
 * address. Where memory ends does not matter: it depends on the size of what the boot loader has put there.
 */
#include "mm/mm.h"
#include "user/user.h"

#define GAP   3	 /* pages; a mask, as is the next */
#define FIRST 63 /* pages; a way of a second-level cache has 16 to 64 */

/* Knuth's MMIX: the upper bits are good, and a page costs two instructions more. */
#define FACTOR	  6364136223846793005u
#define INCREMENT 1442695040888963407u
#define GAP_SHIFT 62

#define HALF_SHIFT 5 /* half of the bits of a place */
#define LEAST_PART 4 /* the cache gets no more than this part of the memory */
_Static_assert(CACHE_PLACES == 1 << 2 * HALF_SHIFT, "each place has a page of its own");

static word next, end, kept;
static word memory_end;
static word cached; /* the first of the cache's pages; 0: memory is too small for it */
static word freed;  /* the first of a chain through the pages themselves */

/* Masks that are 0 without a layout, so that each layout takes the same instructions. */
static struct {
	uint64_t first, gap, seed, of_program;
	uint64_t fold, factor, added; /* of places */
} drawn = {.factor = 1};

static word gap(uint64_t *state)
{
	*state = *state * FACTOR + INCREMENT;
	return (*state >> GAP_SHIFT & drawn.gap) * PAGE;
}

void pages_init(word from, word to)
{
	next = align_up(from, PAGE);
	end = memory_end = to & ~(PAGE - 1);
	cached = end > next && (end - next) / LEAST_PART >= CACHE_PLACES * PAGE ? next : 0;
	if (cached)
		next += CACHE_PLACES * PAGE;
	kept = next;
}

void pages_set_layout(uint64_t drawn_from)
{
	const uint64_t mixed = random_mixed(drawn_from);

	drawn.gap = drawn_from ? GAP : 0;
	drawn.first = drawn_from ? mixed & FIRST : 0;
	drawn.seed = mixed;
	drawn.fold = drawn_from ? CACHE_PLACES - 1 : 0;
	drawn.factor = drawn_from ? ~mixed | 1 : 1; /* odd, so that no two places become one */
	drawn.added = drawn_from ? mixed >> 32 : 0;
	pages_release();
}

word page_take(void)
{
	word page = freed;

	if (page) {
		freed = *(word *)physical_to_virtual(page);
	} else {
		if (next >= end)
			return 0;
		page = next;
		next += PAGE + gap(&drawn.of_program);
	}
	__builtin_memset(physical_to_virtual(page), 0, PAGE);
	return page;
}

void page_free(word page)
{
	*(word *)physical_to_virtual(page) = freed;
	freed = page;
}

uint64_t page_of_cache(uint64_t place)
{
	place = (place * drawn.factor + drawn.added) % CACHE_PLACES;
	place ^= place >> HALF_SHIFT & drawn.fold;
	place = place * drawn.factor % CACHE_PLACES;
	return cached ? cached + place * PAGE : 0;
}

int page_is_for_good(word page)
{
	return page < kept;
}

word pages_left(void)
{
	return next < end ? end - next : 0;
}

word pages_take_block(word bytes)
{
	if (end != memory_end || pages_left() < bytes)
		return 0;
	end -= bytes;
	return end;
}

void pages_keep(void)
{
	kept = next;
}

void pages_release(void)
{
	/* The same pages for every program of a layout. */
	next = kept + drawn.first * PAGE;
	end = memory_end;
	drawn.of_program = drawn.seed;
	freed = 0;
}

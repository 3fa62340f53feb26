/* Pages of programs that nobody writes to, found by their source. */
#include "mm/mm.h"

/* Files begin at multiples of BLOCK (plan/archive.c): so many beginnings of a page of a file there are in a page. */
#define BLOCK	   512
#define BEGINNINGS (PAGE / BLOCK)

static struct {
	struct source source;
	word at;
	int is_filled;
} places[CACHE_PLACES];
static const uint8_t *first;

void source_fill(const struct source *source, word at, uint8_t *to)
{
	/* Where the page begins in the source. The source may begin before its area does: `offset` is negative then. */
	const int64_t from = (int64_t)at - (int64_t)source->offset;
	const word start = from < 0 ? (word)-from : 0, skipped = from > 0 ? (word)from : 0;
	const word rest = source->count - skipped;

	__builtin_memcpy(to + start, source->bytes + skipped, rest < PAGE - start ? rest : PAGE - start);
}

/* Whether a place has this page. An area that was split has the same pages at other distances from its beginning. */
static int has(word place, const struct source *source, word at)
{
	const struct source *const there = &places[place].source;

	return there->bytes == source->bytes && there->count == source->count &&
	       places[place].at - there->offset == at - source->offset;
}

void cache_begin(const uint8_t *files)
{
	first = files;
}

void cache_forget(void)
{
	__builtin_memset(places, 0, sizeof(places));
}

/*
 * The place of a file's page. Two files may meet in a page of the archive, with different beginnings: each beginning has a part of the
 * places, so that no two pages of files of half a MiB have the same.
 */
static word place_of(const struct source *source, word at)
{
	const uint64_t block = ((word)source->bytes - source->offset + at - (word)first) / BLOCK;

	return (block / BEGINNINGS + block % BEGINNINGS * (CACHE_PLACES / BEGINNINGS)) % CACHE_PLACES;
}

word cache_page(const struct source *source, word at)
{
	const word place = place_of(source, at), physical = page_of_cache(place);

	/* If it is another page's, this one is not cached, and belongs to the program. */
	if (places[place].is_filled)
		return has(place, source, at) ? physical : 0;
	if (!physical)
		return 0;
	__builtin_memset(physical_to_virtual(physical), 0, PAGE);
	source_fill(source, at, physical_to_virtual(physical));
	places[place].source = *source;
	places[place].at = at;
	places[place].is_filled = 1;
	return physical;
}

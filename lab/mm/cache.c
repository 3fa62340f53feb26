/* Pages of programs that nobody writes to, found by their source. */
#include "mm/mm.h"

#define PLACES 1024

static struct {
	struct source source;
	uint64_t at, physical; /* 0 when free */
} places[PLACES];

void source_fill(const struct source *source, uint64_t at, uint8_t *to)
{
	/* Where the page begins in the source. The source may begin before its area does: `offset` is negative then. */
	const int64_t from = (int64_t)at - (int64_t)source->offset;
	const uint64_t start = from < 0 ? (uint64_t)-from : 0, skipped = from > 0 ? (uint64_t)from : 0;
	const uint64_t rest = source->count - skipped;

	__builtin_memcpy(to + start, source->bytes + skipped, rest < PAGE - start ? rest : PAGE - start);
}

static int is_same(const struct source *a, const struct source *b)
{
	return a->bytes == b->bytes && a->count == b->count && a->offset == b->offset;
}

void cache_forget(void)
{
	__builtin_memset(places, 0, sizeof(places));
}

uint64_t cache_page(const struct source *source, uint64_t at)
{
	const uint64_t first = ((uint64_t)source->bytes + at) / PAGE % PLACES;

	/* A page has two possible places; if both are taken, it is not cached, and belongs to the program. */
	for (uint64_t i = first; i < first + 2; i++) {
		const uint64_t place = i % PLACES;
		if (places[place].physical && places[place].at == at &&
		    is_same(&places[place].source, source))
			return places[place].physical;
		if (places[place].physical)
			continue;
		const uint64_t physical = page_take_for_good();
		if (!physical)
			return 0;
		__builtin_memset(physical_to_virtual(physical), 0, PAGE);
		source_fill(source, at, physical_to_virtual(physical));
		places[place].source = *source;
		places[place].at = at;
		places[place].physical = physical;
		return physical;
	}
	return 0;
}

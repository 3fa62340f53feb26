/* Sets of addresses, made of what firmware claims: in any order, overlapping, empty, without end. */
#include "boot/ranges.h"

#define PAGE_MASK 0xffful

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static unsigned smallest(const struct ranges *set)
{
	unsigned found = 0;

	for (unsigned i = 1; i < set->count; i++)
		if (range_bytes(set->at[i]) < range_bytes(set->at[found]))
			found = i;
	return found;
}

/* Adds a range that touches no other. Where there is no room, the smallest is forgotten: memory is lost, none is invented. */
static void insert(struct ranges *set, struct range range)
{
	if (set->count == MAX_RANGES) {
		unsigned at = smallest(set);

		if (range_bytes(range) <= range_bytes(set->at[at]))
			return;
		set->count--;
		for (; at < set->count; at++)
			set->at[at] = set->at[at + 1];
	}
	unsigned at = set->count++;
	for (; at && set->at[at - 1].start > range.start; at--)
		set->at[at] = set->at[at - 1];
	set->at[at] = range;
}

void ranges_add(struct ranges *set, struct range range)
{
	unsigned kept = 0;

	if (!range_bytes(range))
		return;
	for (unsigned i = 0; i < set->count; i++) {
		const struct range old = set->at[i];

		if (old.end < range.start || old.start > range.end)
			set->at[kept++] = old;
		else
			range = (struct range){lower(old.start, range.start), higher(old.end, range.end)};
	}
	set->count = kept;
	insert(set, range);
}

void ranges_remove(struct ranges *set, struct range range)
{
	struct range split = {0, 0};
	unsigned kept = 0;

	if (!range_bytes(range))
		return;
	for (unsigned i = 0; i < set->count; i++) {
		const struct range old = set->at[i];
		const struct range below = {old.start, lower(old.end, range.start)};
		const struct range above = {higher(old.start, range.end), old.end};

		if (range_bytes(below))
			set->at[kept++] = below;
		else if (range_bytes(above))
			set->at[kept++] = above;
		if (range_bytes(below) && range_bytes(above))
			split = above; /* of one range at most: they are disjoint */
	}
	set->count = kept;
	if (range_bytes(split))
		insert(set, split);
}

struct range ranges_largest(const struct ranges *set)
{
	struct range largest = {0, 0};

	for (unsigned i = 0; i < set->count; i++) {
		const struct range range = set->at[i];
		const uint64_t start =
		    range.start > ~PAGE_MASK ? range.end : (range.start + PAGE_MASK) & ~PAGE_MASK;
		const struct range pages = {start, range.end & ~PAGE_MASK};

		if (range_bytes(pages) > range_bytes(largest))
			largest = pages;
	}
	return largest;
}

/* Sets of addresses. Nothing here touches memory, so that tests compile ranges.c for the host. */
#pragma once

#include <stdint.h>

/* More than firmware maps have once their neighbours are joined; of more, the largest are kept. */
#define MAX_RANGES 64

struct range {
	uint64_t start, end; /* the first address, and the first behind the last */
};

/* Disjoint ranges that do not touch, in order of addresses. */
struct ranges {
	unsigned count;
	struct range at[MAX_RANGES];
};

void ranges_add(struct ranges *set, struct range range);
void ranges_remove(struct ranges *set, struct range range);
/* Whole pages, of the range that has most of them; empty when there is none. */
struct range ranges_largest(const struct ranges *set);

/* Where a size leads beyond the last address, the range ends there. */
static inline struct range range_of(uint64_t start, uint64_t bytes)
{
	return (struct range){start, bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes};
}

static inline uint64_t range_bytes(struct range range)
{
	return range.end > range.start ? range.end - range.start : 0;
}

static inline int ranges_overlap(struct range a, struct range b)
{
	return range_bytes(a) && range_bytes(b) && a.start < b.end && b.start < a.end;
}

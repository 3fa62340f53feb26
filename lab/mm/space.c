/* Address spaces: of each program the areas, whose pages come when they are touched. */
#include "mm/mm.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "user/user.h"

/* A move splits an area at either end of both ranges, before it removes any. */
#define MOVE_AREAS 4

struct address_space *space = &kernel_space;
word user_end;
static struct address_space spaces[MOST_THREADS];
static word zero_page; /* mapped where a page was only read so far */

void space_init(void)
{
	zero_page = page_take();
	pages_keep();
}

void space_enter(struct address_space *to)
{
	if (to == space)
		return;
	((void (*)(void))path_switch_space)();
	space = to;
	user_end = to->end;
	tables_enter();
}

void space_end(struct address_space *ended)
{
	if (ended->other)
		space_end(ended->other);
	ended->other = 0;
	tables_end_space(ended);
	ended->is_used = 0;
}

void space_end_all(void)
{
	for (unsigned i = 0; i < MOST_THREADS; i++)
		spaces[i].is_used = 0;
	pages_release();
	pcids_forget();
}

/* Null when all are in use. */
static struct address_space *unused(void)
{
	for (unsigned i = 0; i < MOST_THREADS; i++)
		if (!spaces[i].is_used)
			return &spaces[i];
	return 0;
}

/* Makes an empty one, with page tables. */
static void set_up(struct address_space *made, int bits, word map_top)
{
	made->is_used = 1;
	made->is_copy = 0;
	made->other = 0;
	made->block = 0;
	made->bits = bits;
	made->end = end_of_programs(bits);
	made->map_top = map_top;
	made->break_start = made->break_now = made->minor_faults = 0;
	made->read_implies_execute = 0;
	made->area_count = 0;
	made->pcid.generation = 0;
	tables_new_space(made);
}

long space_new(int bits, word map_top)
{
	struct address_space *const made = unused();

	if (!made)
		panic("more address spaces than threads");
	set_up(made, bits, map_top);
	if (programs_have_blocks()) {
		made->block = pages_take_block(made->end);
		if (!made->block)
			return -ENOMEM;
	}
	space_enter(made);
	return 0;
}

struct address_space *space_prepare(int bits, word map_top)
{
	struct address_space *const made = space->block ? 0 : unused();

	if (made)
		set_up(made, bits, map_top);
	return made;
}

struct address_space *space_other(void)
{
	if (!space->other && !space->block) {
		space->other = unused();
		if (space->other)
			set_up(space->other, space->bits, space->map_top);
	}
	return space->other;
}

struct address_space *space_copy(void)
{
	struct address_space *const made = space->block ? 0 : unused();

	if (!made)
		return 0;
	set_up(made, space->bits, space->map_top);
	made->is_copy = 1;
	made->area_count = space->area_count;
	__builtin_memcpy(made->areas, space->areas, space->area_count * sizeof(space->areas[0]));
	const int problem = tables_copy(made);
	tables_flush(); /* the program's pages may not be written from here on */
	if (problem) {
		space_end(made);
		return 0;
	}
	return made;
}

static struct area *area_at(word address)
{
	struct area *const end = space->areas + space->area_count;

	for (struct area *area = space->areas; area < end; area++)
		if (address >= area->start && address < area->end)
			return area;
	return 0;
}

static int is_range(word start, word bytes)
{
	return !(start & (PAGE - 1)) && bytes && start < space->end && bytes <= space->end - start;
}

/* Splits the area that contains an address there. */
static int split(word address)
{
	struct area *area = area_at(address);

	if (!area || area->start == address)
		return 1;
	if (space->area_count == MAX_AREAS)
		return 0;
	struct area *next = area + 1;
	__builtin_memmove(next, area, (size_t)(&space->areas[space->area_count] - area) * sizeof(*area));
	space->area_count++;
	area->end = next->start = address;
	/* Where the source begins, relative to the second half; negative if it begins before. */
	next->source.offset -= address - area->start;
	if (next->pages)
		next->pages += address - area->start;
	return 1;
}

/* Makes areas begin and end where a range does. 0, -EINVAL, -ENOMEM. */
static long cut_out(word start, word bytes)
{
	if (!is_range(start, bytes))
		return -EINVAL;
	return split(start) && split(start + bytes) ? 0 : -ENOMEM;
}

static int is_within(const struct area *area, word start, word bytes)
{
	return area->start >= start && area->end <= start + bytes;
}

static void drop_pages(word start, word end)
{
	for (word at = tables_next(start, end); at < end; at = tables_next(at + PAGE, end)) {
		const word physical = tables_unmap(at);

		if (!page_is_for_good(physical))
			page_free(physical);
	}
}

long space_remove(word start, word bytes)
{
	unsigned kept = 0;

	bytes = align_up(bytes, PAGE);
	const long problem = cut_out(start, bytes);
	if (problem)
		return problem;
	if (space_is_free(start, bytes))
		return 0;
	for (unsigned i = 0; i < space->area_count; i++) {
		if (is_within(&space->areas[i], start, bytes))
			drop_pages(space->areas[i].start, space->areas[i].end);
		else
			space->areas[kept++] = space->areas[i];
	}
	space->area_count = kept;
	tables_flush();
	return 0;
}

/* Merges neighbours of the same protection that have no source. */
static int continues(const struct area *area, const struct area *next)
{
	return area->end == next->start && area->protection == next->protection && !area->source.count &&
	       !next->source.count && !area->pages && !next->pages;
}

static int has_source(const struct area *area, word page)
{
	const int64_t from = (int64_t)(page - area->start) - (int64_t)area->source.offset;

	return from + (int64_t)PAGE > 0 && from < (int64_t)area->source.count;
}

/* In a block there is no fault that could bring a page: all of an area is there from the start. The kernel's pages are copied. */
static void fill(const struct area *area)
{
	uint8_t *const to = physical_to_virtual(space->block + area->start);

	__builtin_memset(to, 0, area->end - area->start);
	if (area->pages)
		__builtin_memcpy(to, area->pages, area->end - area->start);
	for (word at = 0; at < area->end - area->start; at += PAGE)
		if (has_source(area, area->start + at))
			source_fill(&area->source, at, to + at);
}

static long insert(struct area area)
{
	unsigned at = 0;

	if (space->block)
		fill(&area);
	for (unsigned i = 0; i < space->area_count; i++)
		if (continues(&space->areas[i], &area)) {
			space->areas[i].end = area.end;
			return 0;
		}
	if (space->area_count == MAX_AREAS)
		return -ENOMEM;
	while (at < space->area_count && space->areas[at].start < area.start)
		at++;
	__builtin_memmove(&space->areas[at + 1], &space->areas[at],
			  (space->area_count - at) * sizeof(space->areas[0]));
	space->areas[at] = area;
	space->area_count++;
	return 0;
}

long space_add(word start, word bytes, unsigned protection, struct source source)
{
	bytes = align_up(bytes, PAGE);
	const long result = space_remove(start, bytes);

	if (result)
		return result;
	return insert((struct area){start, start + bytes, protection, source, 0});
}

long space_add_pages(word start, const void *first, word bytes, unsigned protection)
{
	bytes = align_up(bytes, PAGE);
	const long result = space_remove(start, bytes);

	if (result)
		return result;
	return insert((struct area){start, start + bytes, protection, {0}, first});
}

/* A page without any rights is reserved, and nobody may access it. */
static unsigned rights_of(unsigned protection)
{
	if (protection & PROTECT_SHADOW)
		return MAP_USER | MAP_SHADOW;
	return (protection ? MAP_USER : MAP_HELD) | (protection & PROTECT_WRITE ? MAP_WRITE : 0) |
	       (protection & PROTECT_EXECUTE ? MAP_EXECUTE : 0);
}

/* Mapped pages get the rights of their area, but a shared page never becomes writable. */
static void apply_rights(const struct area *area)
{
	for (word at = tables_next(area->start, area->end); at < area->end;
	     at = tables_next(at + PAGE, area->end)) {
		word physical;
		unsigned rights;

		tables_find(at, &physical, &rights);
		tables_map(at, physical,
			   rights_of(area->protection) & ~(page_is_for_good(physical) ? MAP_WRITE : 0u));
	}
}

/* The first address in a range that no area has; its end when there is none. */
static word first_hole(word start, word end)
{
	const struct area *area;

	while (start < end && (area = area_at(start)))
		start = area->end;
	return start < end ? start : end;
}

static int has_shadow_stack(word start, word bytes)
{
	for (unsigned i = 0; i < space->area_count; i++)
		if (space->areas[i].protection & PROTECT_SHADOW && space->areas[i].end > start &&
		    (space->areas[i].start <= start || space->areas[i].start - start < bytes))
			return 1;
	return 0;
}

long space_protect(word start, word bytes, unsigned protection)
{
	bytes = align_up(bytes, PAGE);
	const word hole = is_range(start, bytes) ? first_hole(start, start + bytes) : start;
	if (has_shadow_stack(start, bytes))
		return -EINVAL;
	if (hole == start || cut_out(start, hole - start))
		return -ENOMEM;
	for (unsigned i = 0; i < space->area_count; i++) {
		if (!is_within(&space->areas[i], start, hole - start))
			continue;
		space->areas[i].protection = protection;
		apply_rights(&space->areas[i]);
	}
	tables_flush();
	return hole == start + bytes ? 0 : -ENOMEM;
}

void space_forget(word start, word bytes)
{
	if (!is_range(start, bytes))
		return;
	if (space->block)
		__builtin_memset(physical_to_virtual(space->block + start), 0, bytes);
	drop_pages(start, start + bytes);
	tables_flush();
}

int space_is_whole(word start, word bytes)
{
	return is_range(start, bytes) && first_hole(start, start + bytes) == start + bytes;
}

int space_protection(word address)
{
	const struct area *area = area_at(address);

	return area ? (int)area->protection : -1;
}

int space_has(word start, word bytes)
{
	return area_at(start) && bytes <= space->end - start;
}

int space_is_free(word start, word bytes)
{
	for (unsigned i = 0; i < space->area_count; i++)
		if (space->areas[i].end > start &&
		    (space->areas[i].start <= start || space->areas[i].start - start < bytes))
			return 0;
	return 1;
}

word space_find_in(word bytes, word floor, word top)
{
	if (bytes > top) /* compared, never added: a size is the program's, and sums with it may wrap */
		return 0;
	bytes = align_up(bytes, PAGE);
	for (unsigned i = space->area_count; i-- > 0 && space->areas[i].end > floor;) {
		if (space->areas[i].start >= top)
			continue;
		if (space->areas[i].end <= top && top - space->areas[i].end >= bytes)
			return top - bytes;
		top = space->areas[i].start;
	}
	return top >= floor && top - floor >= bytes ? top - bytes : 0;
}

word space_find(word bytes)
{
	return space_find_in(bytes, PAGE, space->map_top);
}

int space_is_movable(word start, word bytes)
{
	const struct area *first = area_at(start), *area = first;

	if (!first || !space_is_whole(start, bytes) || has_shadow_stack(start, bytes))
		return 0;
	for (word at = start; at < start + bytes; at = area->end) {
		area = area_at(at);
		if (area->protection != first->protection || area->source.count || area->pages)
			return 0;
	}
	return 1;
}

/* Page tables for all pages that a move maps elsewhere; 0 when there is no memory for them. */
static int prepare_move(word start, word end, word to)
{
	for (word at = tables_next(start, end); at < end; at = tables_next(at + PAGE, end))
		if (tables_prepare(to + (at - start)))
			return 0;
	return 1;
}

static void move_pages(word start, word end, word to)
{
	for (word at = tables_next(start, end); at < end; at = tables_next(at + PAGE, end)) {
		word physical;
		unsigned rights;
		tables_find(at, &physical, &rights);
		tables_map(to + (at - start), physical, rights);
		tables_unmap(at);
	}
}

long space_move(word start, word bytes, word to, word new_bytes)
{
	if (!space_is_movable(start, bytes))
		return -EFAULT;
	if (space->block)
		return -ENOMEM;
	/* Nothing may fail once pages have moved: they would be left without a flush, and without an area. */
	if (space->area_count + MOVE_AREAS > MAX_AREAS)
		return -ENOMEM;
	const long problem = space_add(to, new_bytes, (unsigned)space_protection(start), (struct source){0});
	if (problem)
		return problem;
	if (!prepare_move(start, start + bytes, to)) {
		space_remove(to, new_bytes);
		return -ENOMEM;
	}
	move_pages(start, start + bytes, to);
	space_remove(start, bytes);
	return (long)to;
}

unsigned space_data_protection(void)
{
	return PROTECT_READ | PROTECT_WRITE | (space->read_implies_execute ? PROTECT_EXECUTE : 0);
}

long space_set_break(word to)
{
	const word old_end = align_up(space->break_now, PAGE), new_end = align_up(to, PAGE);

	if (to < space->break_start || to >= space->map_top)
		return (long)space->break_now;
	if (new_end > old_end) {
		if (!space_is_free(old_end, new_end - old_end) ||
		    space_add(old_end, new_end - old_end, space_data_protection(), (struct source){0}))
			return (long)space->break_now;
	} else if (new_end < old_end) {
		space_remove(new_end, old_end - new_end);
	}
	space->break_now = to;
	return (long)to;
}

static int allows(const struct area *area, word error)
{
	if (error & FAULT_SHADOW)
		return (area->protection & PROTECT_SHADOW) != 0;
	if (error & FAULT_WRITE)
		return (area->protection & PROTECT_WRITE) != 0;
	if (error & FAULT_FETCH)
		return (area->protection & PROTECT_EXECUTE) != 0;
	return area->protection != 0;
}

/* A page of the program's own. */
static word own_page(const struct area *area, word page)
{
	const word physical = page_take();

	if (!physical)
		program_lacks_memory();
	if (physical && has_source(area, page))
		source_fill(&area->source, page - area->start, physical_to_virtual(physical));
	return physical;
}

/* A page that may be shared as long as nobody writes to it. */
static word read_page(const struct area *area, word page)
{
	const word physical =
	    area->protection & PROTECT_WRITE ? 0 : cache_page(&area->source, page - area->start);

	return physical ? physical : own_page(area, page);
}

int space_fault(word address, word error)
{
	const word page = address & ~(PAGE - 1);
	const struct area *area = area_at(address);
	word physical;
	unsigned rights;

	if (!area || !allows(area, error))
		return 0;
	const int was_there = tables_find(page, &physical, &rights);
	const int is_shared = was_there && error & FAULT_WRITE && !(error & FAULT_SHADOW) && !area->pages;
	/* Shared with a copy of this address space, which has ended. */
	const int is_own_again = is_shared && !page_is_for_good(physical) && !(rights & MAP_WRITE);
	if (was_there && !is_own_again && !(is_shared && page_is_for_good(physical)))
		return 0; /* the fault has another cause */
	space->minor_faults++;
	rights = rights_of(area->protection);
	if (is_own_again)
		;
	else if (area->pages)
		physical = kernel_to_physical((word)area->pages + (page - area->start));
	else if (error & FAULT_WRITE || area->protection & PROTECT_SHADOW)
		physical = own_page(area, page);
	else
		physical = has_source(area, page) ? read_page(area, page) : zero_page;
	if (!physical)
		return 0;
	if (page_is_for_good(physical))
		rights &= ~(unsigned)MAP_WRITE;
	if (tables_map(page, physical, rights)) {
		program_lacks_memory();
		return 0;
	}
	if (was_there)
		tables_flush(); /* translations with the program's PCID may still point to the shared page */
	return 1;
}

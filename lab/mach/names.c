/*
 * Names: small numbers, the lowest first; those that were freed are given again, the last first. A program can also choose one, of any
 * 32 bits; there is room for a few that are not small.
 */
#include "entry/entry.h"
#include "entry/index-mask.h"
#include "mach/port.h"

void names_reset(struct name_space *names)
{
	__builtin_memset(names, 0, sizeof(*names));
	names->fresh = 1;
}

_Static_assert(INDEX_MASK_OFF + 1 == INDEX_MASK_ON, "small");

/* A name that is below MOST_NAMES. Whether it is masked is no branch either, which could be mispredicted as well. */
static struct entry *small(struct name_space *names, uint32_t name)
{
	const word is_plain = (word)configured[SWITCH_INDEX_MASK] - INDEX_MASK_ON; /* all bits, or 0 */

	return &names->entries[name & (index_mask(name, MOST_NAMES) | is_plain)];
}

struct entry *name_find(struct name_space *names, uint32_t name)
{
	if (name < MOST_NAMES)
		return name && small(names, name)->type ? small(names, name) : 0;
	for (unsigned i = MOST_NAMES; i < MOST_NAMES + MOST_CHOSEN_NAMES; i++)
		if (names->entries[i].type && names->entries[i].name == name)
			return &names->entries[i];
	return 0;
}

static struct entry *begin(struct entry *entry, uint32_t name)
{
	*entry = (struct entry){.name = name};
	return entry;
}

struct entry *name_new(struct name_space *names)
{
	struct entry *const freed = names->freed;

	if (freed) {
		names->freed = freed->next_free;
		return begin(freed, (uint32_t)(freed - names->entries));
	}
	for (; names->fresh < MOST_NAMES; names->fresh++)
		if (!names->entries[names->fresh].type)
			return begin(&names->entries[names->fresh], names->fresh);
	return 0;
}

static void unlist(struct name_space *names, struct entry *entry)
{
	for (struct entry **at = &names->freed; *at; at = &(*at)->next_free)
		if (*at == entry) {
			*at = entry->next_free;
			return;
		}
}

struct entry *name_new_at(struct name_space *names, uint32_t name)
{
	if (name < MOST_NAMES) {
		struct entry *const entry = small(names, name);
		if (entry->is_listed)
			unlist(names, entry);
		return begin(entry, name);
	}
	for (unsigned i = MOST_NAMES; i < MOST_NAMES + MOST_CHOSEN_NAMES; i++)
		if (!names->entries[i].type)
			return begin(&names->entries[i], name);
	return 0;
}

void name_free(struct name_space *names, struct entry *entry)
{
	const int is_small = entry < names->entries + MOST_NAMES;

	entry->type = 0;
	entry->is_listed = is_small;
	if (!is_small)
		return;
	entry->next_free = names->freed;
	names->freed = entry;
}

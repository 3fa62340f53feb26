/*
 * Names: small numbers, the lowest first; those that were freed are given again, the last first. A program can also choose one, of any
 * 32 bits; there is room for a few that are not small.
 */
#include "mach/port.h"

void names_reset(struct name_space *names)
{
	__builtin_memset(names, 0, sizeof(*names));
	names->fresh = 1;
}

struct entry *name_find(struct name_space *names, uint32_t name)
{
	if (name < MOST_NAMES)
		return name && names->entries[name].type ? &names->entries[name] : 0;
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
		if (names->entries[name].is_listed)
			unlist(names, &names->entries[name]);
		return begin(&names->entries[name], name);
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

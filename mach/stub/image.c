/* Dynamic symbols of an image, by the program's width (System V ABI, chapters 4 and 5). Its addresses are offsets from its beginning. */
#include "image.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
struct file_header {
	uint8_t identification[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, headers, sections;
	uint32_t flags;
	uint16_t bytes, header_bytes, header_count;
};
struct program_header {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_bytes, bytes, alignment;
};
struct symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, bytes;
};
_Static_assert(sizeof(struct symbol) == 24 && sizeof(struct program_header) == 56, "as in the ABI");
#else
struct file_header {
	uint8_t identification[16];
	uint16_t type, machine;
	uint32_t version, entry, headers, sections, flags;
	uint16_t bytes, header_bytes, header_count;
};
struct program_header {
	uint32_t type, offset, address, physical, file_bytes, bytes, flags, alignment;
};
struct symbol {
	uint32_t name, value, bytes;
	uint8_t info, other;
	uint16_t section;
};
_Static_assert(sizeof(struct symbol) == 16 && sizeof(struct program_header) == 32, "as in the ABI");
#endif

struct dynamic {
	uintptr_t tag, value;
};

#define PT_DYNAMIC 2
#define DT_NULL	   0
#define DT_HASH	   4
#define DT_STRTAB  5
#define DT_SYMTAB  6
#define DT_COUNT   7 /* those that are looked at */
#define UNDEFINED  0

static const struct dynamic *dynamic_of(const uint8_t *image)
{
	const struct file_header *const file = (const void *)image;

	for (unsigned i = 0; i < file->header_count; i++) {
		const struct program_header *const header =
		    (const void *)(image + file->headers + i * file->header_bytes);
		if (header->type == PT_DYNAMIC)
			return (const void *)(image + header->address);
	}
	return 0;
}

static int is_same(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

void *image_find(const void *image, const char *wanted)
{
	const uint8_t *const start = image;
	uintptr_t tables[DT_COUNT] = {0};

	for (const struct dynamic *entry = dynamic_of(start); entry && entry->tag != DT_NULL; entry++)
		if (entry->tag < DT_COUNT)
			tables[entry->tag] = entry->value;
	if (!tables[DT_HASH] || !tables[DT_STRTAB] || !tables[DT_SYMTAB])
		return 0;
	const struct symbol *const symbols = (const void *)(start + tables[DT_SYMTAB]);
	const char *const names = (const char *)(start + tables[DT_STRTAB]);
	/* The hash table's second word is how many symbols there are. */
	const uint32_t count = ((const uint32_t *)(const void *)(start + tables[DT_HASH]))[1];
	for (uint32_t i = 0; i < count; i++)
		if (symbols[i].section != UNDEFINED && is_same(names + symbols[i].name, wanted))
			return (void *)(start + symbols[i].value);
	return 0;
}

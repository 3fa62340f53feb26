/*
 * Dynamic symbols of an image, by the program's width (System V ABI, chapters 4 and 5). Its addresses are offsets from its beginning. Whoever
 * has the device port chooses what is mapped, so nothing is read or found beyond the image's bytes, whatever they say.
 */
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
#define CLASS	2
#define MACHINE 62
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
#define CLASS	1
#define MACHINE 3
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

struct image {
	const uint8_t *start;
	uintptr_t bytes;
};

/* Copies so many bytes of it: whether it has them. Offsets may be odd. */
static int read_at(const struct image *image, uintptr_t offset, void *to, uintptr_t bytes)
{
	if (offset > image->bytes || bytes > image->bytes - offset)
		return 0;
	__builtin_memcpy(to, image->start + offset, bytes);
	return 1;
}

static int is_of_this_width(const struct file_header *file)
{
	static const uint8_t expected[] = {0x7f, 'E', 'L', 'F', CLASS};

	for (unsigned i = 0; i < sizeof(expected); i++)
		if (file->identification[i] != expected[i])
			return 0;
	return file->machine == MACHINE;
}

/* Where the dynamic section begins; 0 when there is none. */
static uintptr_t dynamic_of(const struct image *image)
{
	struct file_header file;
	struct program_header header;

	if (!read_at(image, 0, &file, sizeof(file)) || !is_of_this_width(&file))
		return 0;
	for (unsigned i = 0; i < file.header_count; i++) {
		if (!read_at(image, file.headers + (uintptr_t)i * file.header_bytes, &header, sizeof(header)))
			return 0;
		if (header.type == PT_DYNAMIC)
			return header.address;
	}
	return 0;
}

/* Offsets of the tables by their tags; 0 for those that there are not. */
static void read_dynamic(const struct image *image, uintptr_t tables[DT_COUNT])
{
	struct dynamic entry;

	for (uintptr_t at = dynamic_of(image);
	     at && read_at(image, at, &entry, sizeof(entry)) && entry.tag != DT_NULL; at += sizeof(entry))
		if (entry.tag < DT_COUNT)
			tables[entry.tag] = entry.value;
}

static int is_named(const struct image *image, uintptr_t name, const char *wanted)
{
	for (char letter; read_at(image, name, &letter, 1) && letter == *wanted; name++, wanted++)
		if (!letter)
			return 1;
	return 0;
}

void *image_find(const void *start, uintptr_t bytes, const char *wanted)
{
	const struct image image = {start, bytes};
	uintptr_t tables[DT_COUNT] = {0};
	uint32_t hash[2]; /* the second word is how many symbols there are */
	struct symbol symbol;

	read_dynamic(&image, tables);
	if (!tables[DT_HASH] || !tables[DT_STRTAB] || !tables[DT_SYMTAB] ||
	    !read_at(&image, tables[DT_HASH], hash, sizeof(hash)))
		return 0;
	for (uint32_t i = 0; i < hash[1]; i++) {
		if (!read_at(&image, tables[DT_SYMTAB] + (uintptr_t)i * sizeof(symbol), &symbol,
			     sizeof(symbol)))
			return 0;
		if (symbol.section != UNDEFINED && is_named(&image, tables[DT_STRTAB] + symbol.name, wanted))
			return symbol.value && symbol.value < bytes
				   ? (uint8_t *)(uintptr_t)image.start + symbol.value
				   : 0;
	}
	return 0;
}

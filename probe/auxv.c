/*
 * The auxiliary vector, and functions of the vDSO, or of another image in memory, found the way a dynamic linker finds them: dynamic segment,
 * GNU or SysV hash table, symbol versions (System V ABI, ch. 5; LSB Core, 10.7).
 */
#include "probe.h"

#include <linux/auxvec.h>
#include <linux/elf.h>

#ifdef __x86_64__
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
typedef Elf64_Dyn elf_dynamic;
typedef Elf64_Sym elf_symbol;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
typedef Elf32_Dyn elf_dynamic;
typedef Elf32_Sym elf_symbol;
#endif

/* Not in the kernel's own elf.h. */
#define DT_GNU_HASH	  0x6ffffef5
#define DT_VERSYM	  0x6ffffff0
#define DT_VERDEF	  0x6ffffffc
#define VERSION_HIDDEN	  0x8000
#define SECTION_UNDEFINED 0
#define TYPE_FUNCTION	  2
#define TYPE_NONE	  0

struct version_definition {
	uint16_t version, flags, index, count;
	uint32_t hash, auxiliary, next;
};

static const unsigned long *vector;

static struct {
	const uint8_t *base; /* what addresses in the image are relative to */
	const elf_symbol *symbols;
	const char *strings;
	const uint32_t *hash, *gnu_hash;
	const uint16_t *versions;
	const uint8_t *definitions;
} image;

void auxv_find(const unsigned long *stack)
{
	const unsigned long *word = stack + 1 + stack[0] + 1; /* argc, argv, NULL */

	while (*word)
		word++;
	vector = word + 1;
}

unsigned long auxv(unsigned long type)
{
	for (const unsigned long *pair = vector; pair[0] != AT_NULL; pair += 2)
		if (pair[0] == type)
			return pair[1];
	return 0;
}

static void read_dynamic(const elf_dynamic *entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const uint8_t *at = image.base + entry->d_un.d_ptr;

		switch ((unsigned long)entry->d_tag) {
		case DT_SYMTAB:
			image.symbols = (const void *)at;
			break;
		case DT_STRTAB:
			image.strings = (const void *)at;
			break;
		case DT_HASH:
			image.hash = (const void *)at;
			break;
		case DT_GNU_HASH:
			image.gnu_hash = (const void *)at;
			break;
		case DT_VERSYM:
			image.versions = (const void *)at;
			break;
		case DT_VERDEF:
			image.definitions = at;
			break;
		}
	}
}

/* Fills `image` with what the file at an address has; 0 when there is no file or it lacks what a lookup needs. */
static int read_image(const uint8_t *file)
{
	const elf_dynamic *dynamic = 0;

	if (!file)
		return 0;
	const elf_header *header = (const void *)file;
	const elf_segment *segment = (const void *)(file + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && !image.base)
			image.base = file + segment->p_offset - segment->p_vaddr;
		if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)(file + segment->p_offset);
	}
	if (!image.base || !dynamic)
		return 0;
	read_dynamic(dynamic);
	return image.symbols && image.strings && (image.hash || image.gnu_hash);
}

static int find_image(void)
{
	return read_image((const uint8_t *)auxv(AT_SYSINFO_EHDR));
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* Name of the version that a symbol has, or "" when the image has no versions. */
static const char *version_of(uint32_t symbol)
{
	if (!image.versions || !image.definitions)
		return "";
	const uint16_t index = image.versions[symbol] & ~VERSION_HIDDEN;
	const uint8_t *at = image.definitions;
	for (;;) {
		const struct version_definition *definition = (const void *)at;

		if (definition->index == index) {
			const uint32_t *name = (const void *)(at + definition->auxiliary);
			return image.strings + *name;
		}
		if (!definition->next)
			return "";
		at += definition->next;
	}
}

static int is_function(const elf_symbol *symbol)
{
	const unsigned type = symbol->st_info & 0xf;

	return symbol->st_shndx != SECTION_UNDEFINED && (type == TYPE_FUNCTION || type == TYPE_NONE) &&
	       symbol->st_value;
}

static int is_wanted(uint32_t index, const char *name, const char *version)
{
	const elf_symbol *symbol = &image.symbols[index];

	return is_function(symbol) && same_text(image.strings + symbol->st_name, name) &&
	       (!image.versions || same_text(version_of(index), version));
}

/*
 * Both tables ask for hash % buckets. The operands are 32 bits wide, and this runs once before anything is
 * timed. Returns a symbol index, 0 when there is none.
 */
static uint32_t find_by_gnu_hash(const char *name, const char *version)
{
	const uint32_t buckets = image.gnu_hash[0], first = image.gnu_hash[1], bloom = image.gnu_hash[2];
	const uint32_t *bucket = image.gnu_hash + 4 + bloom * (WORD / 4);
	const uint32_t *chain = bucket + buckets;
	const uint32_t hash = gnu_hash(name);
	uint32_t index = buckets ? bucket[hash % buckets] : 0;

	for (; index >= first && index; index++) {
		const uint32_t entry = chain[index - first];

		if ((entry | 1) == (hash | 1) && is_wanted(index, name, version))
			return index;
		if (entry & 1)
			break;
	}
	return 0;
}

static uint32_t find_by_sysv_hash(const char *name, const char *version)
{
	const uint32_t buckets = image.hash[0];
	const uint32_t *bucket = image.hash + 2, *chain = bucket + buckets;
	uint32_t index = buckets ? bucket[sysv_hash(name) % buckets] : 0;

	for (; index; index = chain[index])
		if (is_wanted(index, name, version))
			return index;
	return 0;
}

static unsigned long find_function(const char *name, const char *version)
{
	const uint32_t index =
	    image.gnu_hash ? find_by_gnu_hash(name, version) : find_by_sysv_hash(name, version);
	return index ? (unsigned long)(image.base + image.symbols[index].st_value) : 0;
}

unsigned long vdso_function(const char *name, const char *version)
{
	return image.base || find_image() ? find_function(name, version) : 0;
}

unsigned long image_function(const void *file, const char *name, const char *version)
{
	__builtin_memset(&image, 0, sizeof(image));
	return read_image(file) ? find_function(name, version) : 0;
}

/* One past the highest symbol index. */
static uint32_t symbol_count(void)
{
	uint32_t highest = 0;

	if (image.hash)
		return image.hash[1];
	const uint32_t buckets = image.gnu_hash[0], first = image.gnu_hash[1], bloom = image.gnu_hash[2];
	const uint32_t *bucket = image.gnu_hash + 4 + bloom * (WORD / 4);
	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > highest)
			highest = bucket[i];
	if (!highest)
		return first;
	while (!(bucket[buckets + highest - first] & 1))
		highest++;
	return highest + 1;
}

/* Copies a text with its NUL; the texts of an image are short, longer ones are cut. */
static uint32_t append(char *to, uint32_t room, const char *text)
{
	uint32_t length = 0;

	while (text[length] && length + 1 < room) {
		to[length] = text[length];
		length++;
	}
	to[length] = 0;
	return length + 1;
}

void vdso_list(void)
{
	char text[256];

	if (!find_image())
		return;
	for (uint32_t i = 1; i < symbol_count(); i++) {
		if (!is_function(&image.symbols[i]))
			continue;
		uint32_t length = append(text, 128, image.strings + image.symbols[i].st_name);
		length += append(text + length, 128, version_of(i));
		emit(RECORD_EXPORT, text, length);
	}
}

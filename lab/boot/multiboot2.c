/* Multiboot2 Specification 2.0, 3.6: a list of tags. */
#include "boot/boot.h"
#include "boot/window.h"
#include "mm/mm.h"

struct information {
	uint32_t bytes, reserved;
};
struct tag {
	uint32_t type, bytes;
};
struct module_tag {
	struct tag tag;
	uint32_t start, end;
};
struct memory_tag {
	struct tag tag;
	uint32_t entry_bytes, version;
};
struct memory_entry {
	uint64_t address, bytes;
	uint32_t type, reserved;
};

#define TAG_END	   0
#define TAG_WORDS  1 /* what stands behind the kernel's name, with a 0 at the end */
#define TAG_MODULE 3
#define TAG_MEMORY 6
#define TAG_SCREEN 8
#define TAG_ACPI_1 14 /* a copy of the root pointer, of revision 0 */
#define TAG_ACPI_2 15
#define TYPE_RAM   1

static _Noreturn void damaged(void)
{
	panic("the multiboot2 information is damaged");
}

/* The first tag of a type, which has at least so many bytes; null when there is none. */
static const void *find_tag(uint32_t address, uint32_t type, uint64_t least)
{
	const struct information *head = window_to(address, sizeof(*head));
	const uint64_t bytes = head ? head->bytes : 0;
	const uint8_t *information = window_to(address, bytes);

	if (!information)
		damaged();
	for (uint64_t at = sizeof(*head); at + sizeof(struct tag) <= bytes;) {
		const struct tag *tag = (const void *)(information + at);

		if (tag->type == TAG_END)
			return 0;
		if (tag->bytes < sizeof(*tag) || tag->bytes > bytes - at)
			damaged();
		if (tag->type == type && tag->bytes >= least)
			return tag;
		at += align_up(tag->bytes, 8);
	}
	return 0;
}

struct range multiboot2_module(uint32_t information)
{
	const struct module_tag *module = find_tag(information, TAG_MODULE, sizeof(*module));

	return module ? (struct range){module->start, module->end} : (struct range){0, 0};
}

void multiboot2_memory(uint32_t information, take_memory *take)
{
	const struct memory_tag *map = find_tag(information, TAG_MEMORY, sizeof(*map));

	if (!map || map->entry_bytes < sizeof(struct memory_entry))
		damaged();
	for (uint64_t at = sizeof(*map); at + sizeof(struct memory_entry) <= map->tag.bytes;
	     at += map->entry_bytes) {
		const struct memory_entry *entry = (const void *)((const uint8_t *)map + at);

		take(range_of(entry->address, entry->bytes), entry->type == TYPE_RAM);
	}
}

struct acpi_root multiboot2_acpi(uint32_t information)
{
	struct acpi_root root = {.revision = 0};
	const uint64_t head = sizeof(struct tag);
	const struct tag *tag = find_tag(information, TAG_ACPI_2, head + sizeof(root));

	if (tag) {
		__builtin_memcpy(&root, tag + 1, sizeof(root));
		return root;
	}
	tag = find_tag(information, TAG_ACPI_1, head + ACPI_ROOT_1);
	if (tag)
		__builtin_memcpy(&root, tag + 1, ACPI_ROOT_1);
	return root;
}

int multiboot2_is_for_emulator(uint32_t information)
{
	static const char word[] = "emulator";
	const struct tag *tag = find_tag(information, TAG_WORDS, sizeof(*tag) + sizeof(word));

	return tag && !__builtin_memcmp(tag + 1, word, sizeof(word));
}

struct framebuffer multiboot2_framebuffer(uint32_t information)
{
	const struct tag *tag = find_tag(information, TAG_SCREEN, FRAMEBUFFER_TAG_BYTES);

	return tag ? framebuffer_of(tag) : (struct framebuffer){.kind = SCREEN_NONE};
}

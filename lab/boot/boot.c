/* Two boot protocols, which both tell where the module is and which memory there is. */
#include "boot/boot.h"
#include "lab.h"
#include "mm/mm.h"

/* Above this, addresses belong to devices. */
#define MEMORY_LIMIT 0xc0000000ul

/* Xen's hvm_start_info (xen/include/public/arch-x86/hvm/start_info.h). */
struct pvh_start {
	uint32_t magic, version, flags, modules;
	uint64_t module_list, command_line, rsdp, memory_map;
	uint32_t memory_entries, reserved;
};
struct pvh_module {
	uint64_t address, bytes, command_line, reserved;
};
struct pvh_memory {
	uint64_t address, bytes;
	uint32_t type, reserved;
};
#define PVH_MAGIC 0x336ec578

/* Multiboot2 Specification, 3.4. */
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
#define TAG_MODULE 3
#define TAG_MEMORY 6

#define MEMORY_USABLE 1

extern const uint8_t kernel_end[];

static struct boot boot;

static void take_module(uint64_t address, uint64_t bytes)
{
	boot.module = physical_to_virtual(address);
	boot.module_bytes = bytes;
}

/* Keeps the largest part of a range that is free of kernel and module, each of which lies at one end of it. */
static void take_memory(uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes < MEMORY_LIMIT ? start + bytes : MEMORY_LIMIT;
	const uint64_t kernel = kernel_to_physical((uint64_t)kernel_end);
	const uint64_t module = boot.module ? virtual_to_physical(boot.module) : 0;

	if (end > boot.memory_top)
		boot.memory_top = end;
	if (start < kernel)
		start = kernel;
	if (module >= start && module < end) {
		const uint64_t behind = align_up(module + boot.module_bytes, PAGE);
		if (end > behind && end - behind > module - start)
			start = behind;
		else
			end = module;
	}
	if (end > start && end - start > boot.memory_end - boot.memory_start) {
		boot.memory_start = start;
		boot.memory_end = end;
	}
}

static void read_pvh(uint32_t address)
{
	const struct pvh_start *start = physical_to_virtual(address);

	if (start->magic != PVH_MAGIC)
		panic("the PVH start information has another magic number");
	const struct pvh_module *module = physical_to_virtual(start->module_list);
	if (start->modules)
		take_module(module->address, module->bytes);
	const struct pvh_memory *memory = physical_to_virtual(start->memory_map);
	for (uint32_t i = 0; i < start->memory_entries; i++)
		if (memory[i].type == MEMORY_USABLE)
			take_memory(memory[i].address, memory[i].bytes);
}

static void read_memory_tag(const struct memory_tag *tag)
{
	for (uint32_t at = sizeof(*tag); at + sizeof(struct memory_entry) <= tag->tag.bytes;
	     at += tag->entry_bytes) {
		const struct memory_entry *entry = (const void *)((const uint8_t *)tag + at);
		if (entry->type == MEMORY_USABLE)
			take_memory(entry->address, entry->bytes);
	}
}

/* Reads the tags twice, because free memory is known only after the module is. */
static void read_multiboot2(uint32_t address)
{
	const uint8_t *information = physical_to_virtual(address);

	boot.framebuffer = framebuffer_in(information);
	for (uint32_t wanted = TAG_MODULE; wanted <= TAG_MEMORY; wanted += TAG_MEMORY - TAG_MODULE) {
		const struct tag *tag = (const void *)(information + 8);
		for (; tag->type != TAG_END;
		     tag = (const void *)((const uint8_t *)tag + align_up(tag->bytes, 8))) {
			const struct module_tag *module = (const void *)tag;
			if (tag->type != wanted)
				continue;
			if (wanted == TAG_MODULE)
				take_module(module->start, module->end - module->start);
			else
				read_memory_tag((const void *)tag);
		}
	}
}

struct boot boot_read(uint32_t loader, uint32_t information)
{
	boot.loader = loader;
	if (loader == LOADER_PVH)
		read_pvh(information);
	else
		read_multiboot2(information);
	return boot;
}

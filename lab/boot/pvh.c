/* Xen's hvm_start_info (xen/include/public/arch-x86/hvm/start_info.h), which QEMU passes as well. */
#include "boot/boot.h"
#include "boot/window.h"
#include "mm/mm.h"

struct start {
	uint32_t magic, version, flags, modules;
	uint64_t module_list, command_line, rsdp, memory_map;
	uint32_t memory_entries, reserved;
};
struct module {
	uint64_t address, bytes, command_line, reserved;
};
struct memory {
	uint64_t address, bytes;
	uint32_t type, reserved;
};

#define MAGIC	       0x336ec578
#define HAS_MEMORY_MAP 1 /* version */
#define TYPE_RAM       1

static struct start read_start(uint32_t address)
{
	const struct start *start = window_to(address, sizeof(*start));

	if (!start || start->magic != MAGIC)
		panic("the PVH start information has another magic number");
	if (start->version < HAS_MEMORY_MAP)
		panic("the PVH start information has no memory map");
	return *start;
}

struct range pvh_module(uint32_t information)
{
	const struct start start = read_start(information);
	const struct module *module = window_to(start.module_list, sizeof(*module));

	if (!start.modules)
		return (struct range){0, 0};
	if (!module)
		panic("the PVH list of modules is not below 4 GiB");
	return range_of(module->address, module->bytes);
}

void pvh_memory(uint32_t information, take_memory *take)
{
	const struct start start = read_start(information);
	const struct memory *memory = window_to(start.memory_map, start.memory_entries * sizeof(*memory));

	if (!memory)
		panic("the PVH memory map is too long, or not below 4 GiB");
	for (uint32_t i = 0; i < start.memory_entries; i++)
		take(range_of(memory[i].address, memory[i].bytes), memory[i].type == TYPE_RAM);
}

struct acpi_root pvh_acpi(uint32_t information)
{
	const struct start start = read_start(information);
	const struct acpi_root *root = start.rsdp ? window_to(start.rsdp, sizeof(*root)) : 0;

	return root ? *root : (struct acpi_root){0};
}

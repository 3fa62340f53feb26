/* Which memory there is, and which of it is free. */
#include "boot/boot.h"
#include "lab.h"
#include "mm/mm.h"

#define MODULE_LIMIT (1ull << 32)
#define LEAST_MEMORY (1ul << 20)

extern const uint8_t image_start[], kernel_end[];

static struct ranges memory;

/*
 * Ranges of a map may overlap: what any entry calls unusable is not memory, whatever the others say. Memory that would
 * end behind the last address is a mistake of the map, and is not believed.
 */
static void add_usable(struct range range, int is_usable)
{
	if (is_usable && range.end != UINT64_MAX)
		ranges_add(&memory, range);
}

static void remove_unusable(struct range range, int is_usable)
{
	if (!is_usable)
		ranges_remove(&memory, range);
}

static struct range whole_pages(struct range range)
{
	return (struct range){range.start & ~(PAGE - 1), align_up(range.end, PAGE)};
}

static void take_module(struct boot *boot, struct range module)
{
	if (!range_bytes(module))
		return;
	if (module.end > MODULE_LIMIT)
		panic("the boot module is not below 4 GiB");
	boot->module_pages = whole_pages(module);
	if (ranges_overlap(boot->module_pages, boot->kernel))
		panic("the boot module and the kernel overlap");
	boot->module = physical_to_virtual(module.start);
	boot->module_bytes = range_bytes(module);
}

struct listener boot_listener(uint32_t loader, uint32_t information)
{
	if (loader == LOADER_PVH)
		return (struct listener){.is_command = 1};
	return (struct listener){.is_command = multiboot2_is_for_emulator(information),
				 .screen = multiboot2_framebuffer(information)};
}

struct boot boot_read(uint32_t loader, uint32_t information)
{
	const int is_pvh = loader == LOADER_PVH;
	void (*const for_each)(uint32_t, take_memory *) = is_pvh ? pvh_memory : multiboot2_memory;
	struct boot boot = {.loader = loader};

	boot.kernel = (struct range){(word)image_start, kernel_to_physical((word)kernel_end)};
	take_module(&boot, is_pvh ? pvh_module(information) : multiboot2_module(information));
	const struct acpi_root acpi = is_pvh ? pvh_acpi(information) : multiboot2_acpi(information);
	boot.pm_timer = acpi_pm_timer(&acpi);
	boot.processors = acpi_processors(&acpi);
	boot.io_apic_count = acpi_io_apics(&acpi, boot.io_apics, MOST_IO_APICS);
	for_each(information, add_usable);
	for_each(information, remove_unusable);
	/* Below the kernel there is what firmware still uses. */
	ranges_remove(&memory, (struct range){0, boot.kernel.end});
	ranges_remove(&memory, boot.module_pages);
	ranges_remove(&memory, (struct range){MEMORY_LIMIT, UINT64_MAX});
	boot.free = ranges_largest(&memory);
	if (range_bytes(boot.free) < LEAST_MEMORY)
		panic("the boot loader's memory map names less than 1 MiB of free memory");
	return boot;
}

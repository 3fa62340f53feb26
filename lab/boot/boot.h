/* What the boot loader passes on: a module, and memory. */
#pragma once

#include "boot/acpi.h"
#include "boot/framebuffer.h"
#include "boot/ranges.h"

#include <stdint.h>

#define MOST_IO_APICS 64

struct boot {
	uint32_t loader; /* LOADER_* */
	const uint8_t *module;
	uint64_t module_bytes;
	/* Physical, in whole pages. The processor's page tables will map these, and no other memory. */
	struct range kernel, module_pages, free;
	uint16_t pm_timer;	/* the port of ACPI's timer, or 0 */
	unsigned processors;	/* that ACPI lists; 0: unknown */
	unsigned io_apic_count; /* how many ACPI lists; addresses as far as there is room */
	uint32_t io_apics[MOST_IO_APICS];
};

/* Who reads what the kernel says, until the plan has been read. */
struct listener {
	int is_command; /* that started the emulator, and ends with it; else a person at the machine */
	struct framebuffer screen;
};
struct listener boot_listener(uint32_t loader, uint32_t information);

/* Reads the information of either protocol; module_bytes is 0 when there is no module. */
struct boot boot_read(uint32_t loader, uint32_t information);

/*
 * pvh.c, multiboot2.c: what both protocols tell. Each entry of the memory map is given to `take`; a panic when the
 * information is damaged.
 */
typedef void take_memory(struct range range, int is_usable);
struct range pvh_module(uint32_t information);
void pvh_memory(uint32_t information, take_memory *take);
struct acpi_root pvh_acpi(uint32_t information); /* all 0 when there is none */
struct range multiboot2_module(uint32_t information);
void multiboot2_memory(uint32_t information, take_memory *take);
struct acpi_root multiboot2_acpi(uint32_t information);
struct framebuffer multiboot2_framebuffer(uint32_t information);
/* By the word that crates/places/src/lab/image.rs gives. */
int multiboot2_is_for_emulator(uint32_t information);

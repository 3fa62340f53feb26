/* The little of ACPI's tables that the kernel needs; only while the boot page tables are in use. */
#pragma once

#include <stdint.h>

/* ACPI Specification 6.5, 5.2.5.3. Members from `bytes` on are there from revision 2. */
struct acpi_root {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t bytes;
	uint64_t xsdt;
	uint8_t extended_checksum, reserved[3];
} __attribute__((packed));
#define ACPI_ROOT_1 20 /* bytes of revision 0 */
_Static_assert(sizeof(struct acpi_root) == 36, "ACPI 6.5, table 5.3");

/* The port of the power management timer; 0 when the tables name none, or are damaged. */
uint16_t acpi_pm_timer(const struct acpi_root *root);
/* How many processors the tables list that can be used; 0 when there are no tables that tell. */
unsigned acpi_processors(const struct acpi_root *root);
/* Notes the physical address of each I/O APIC, as far as there is room; how many the tables list. */
unsigned acpi_io_apics(const struct acpi_root *root, uint32_t *addresses, unsigned room);

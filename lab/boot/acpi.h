/* The little of ACPI's tables that the kernel needs. */
#pragma once

#include <stdint.h>

/*
 * Calls a function with the physical address of each I/O APIC that the firmware's tables list. `rsdp` is where these begin,
 * null when the boot loader has not said. The first 4 GiB must be mapped at DIRECT_MAP, as the boot page tables do.
 */
void acpi_io_apics(const void *rsdp, void (*each)(uint32_t address));

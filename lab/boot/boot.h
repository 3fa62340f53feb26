/* What the boot loader passes on: a module, and memory. */
#pragma once

#include "boot/framebuffer.h"

#include <stdint.h>

struct boot {
	uint32_t loader; /* LOADER_* */
	const uint8_t *module;
	uint64_t module_bytes;
	uint64_t memory_start, memory_end; /* physical: the largest range that is free */
	uint64_t memory_top;		   /* the end of all memory below 3 GiB */
	struct framebuffer framebuffer;
};

/* Reads the information of either protocol; module_bytes is 0 when there is no module. */
struct boot boot_read(uint32_t loader, uint32_t information);

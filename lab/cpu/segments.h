/* The segment registers of a program, while another runs. */
#pragma once

#include "cpu/registers.h"

#include <stdint.h>

struct segments {
	uint64_t fs_base, gs_base, tls[TLS_ENTRIES];
	uint16_t ds, es, fs, gs;
};

/* segments.c: those of a program that begins; of the current one, to and from memory. */
void segments_begin(struct segments *segments);
void segments_save(struct segments *segments);
void segments_load(const struct segments *segments);
uint64_t fs_base(void); /* of the current one */
/* In long mode the processor checks no limits. */
static inline int limits_cut(const uint64_t *descriptor)
{
	(void)descriptor;
	return 1;
}

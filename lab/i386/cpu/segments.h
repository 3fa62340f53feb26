/* The segment registers of a program, while another runs. DS and ES are on its stack in the kernel. */
#pragma once

#include "cpu/registers.h"
#include "entry/v86_thread.h"

#include <stdint.h>

struct segments {
	uint64_t tls[TLS_ENTRIES];
	uint16_t fs, gs;
	struct v86 v86; /* in virtual-8086 mode, fs and gs are on its stack in the kernel, too */
};

/* segments.c: those of a program that begins; of the current one, to and from memory. */
void segments_begin(struct segments *segments);
void segments_save(struct segments *segments);
void segments_load(const struct segments *segments);
uint64_t fs_base(void); /* of the current one */

/*
 * The segment registers of a program, while another runs. DS and ES are on its stack in the kernel, or in the TSS of programs; TR may name
 * one of the kernel's tasks, which serves a call of it.
 */
#pragma once

#include "cpu/registers.h"
#include "cpu/tasks.h"

#include <stdint.h>

struct segments {
	uint64_t tls[TLS_ENTRIES];
	uint16_t fs, gs;
	struct tasks_kept tasks;
};

/* segments.c: those of a program that begins; of the current one, to and from memory. */
void segments_begin(struct segments *segments);
void segments_save(struct segments *segments);
void segments_load(const struct segments *segments);
uint64_t fs_base(void); /* of the current one */

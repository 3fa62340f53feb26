/* The task state segment, and what of it a switch of threads changes: inlined, because what that executes is counted (docs/mach.md). */
#pragma once

#include "entry/layout.h"
#include "word.h"

#include <stdint.h>

/* SDM vol. 3, 8.7: the 64-bit task state segment. */
struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));
extern struct tss tss; /* tables.c */

/*
 * Where the processor goes from ring 3, unless a gate says otherwise; and where by gates to rings 1 and 2, whose stacks lie one behind the
 * other: the top of ring 1's.
 */
static inline void tss_set_stacks(word top, word ring1_top)
{
	tss.rsp[0] = top;
	tss.rsp[1] = ring1_top;
	tss.rsp[2] = ring1_top + RING_STACK_BYTES;
}

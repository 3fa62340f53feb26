/*
 * getcpu without the kernel: the numbers of the CPU and its node are the limit of a segment descriptor, which any
 * program may ask for. Linux does the same at selector 0x7b (arch/x86/include/asm/segment.h, vdso_read_cpunode).
 * The descriptor of SELECTOR_CPU: data, privilege level 3, limit in bytes (G = 0), limit = GETCPU_LIMIT(cpu, node).
 */
#pragma once

#include "cpu/registers.h"

#define GETCPU_BITS		12 /* of the limit; the node has those above */
#define GETCPU_LIMIT(cpu, node) ((cpu) | (node) << GETCPU_BITS)

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Either place may be null, as for getcpu itself. */
static inline void getcpu_read(uint32_t *cpu, uint32_t *node)
{
	uint32_t limit;

	__asm__ volatile("lsl %1, %0" : "=r"(limit) : "r"(SELECTOR_CPU) : "cc");
	if (cpu)
		*cpu = limit & ((1u << GETCPU_BITS) - 1);
	if (node)
		*node = limit >> GETCPU_BITS;
}

#endif

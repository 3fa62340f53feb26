/* SDM vol. 3, 8.2.1: the 32-bit task state segment. */
#pragma once

#include "cpu/cpu.h"
#include "entry/frame_layout.h"

struct tss {
	uint32_t link;
	struct {
		uint32_t esp, ss;
	} rings[3];
	uint32_t cr3, eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs, ldt;
	uint16_t debug, io_map;
};
_Static_assert(sizeof(struct tss) == 104, "as the processor has it");
_Static_assert(offsetof(struct tss, cr3) == TSS_CR3, "as paths have it");

/* tables.c: that of programs and of the kernel, unless a task serves an exception. */
extern struct tss tss;

/* A task of the kernel's that has not begun; its address space is set by tss_set_tables. */
struct tss tss_of_kernel(const void *code, const uint8_t *stack_top);
void tables_set_task(unsigned selector, const struct tss *task);
/* As in the kernel for long mode (lab/cpu/tss.h). */
void tss_set_stacks(word top, word ring1_top);
/* The TSS of a selector, which is one. */
struct tss *tables_task(unsigned selector);
void gate_to_task(unsigned vector, unsigned selector);

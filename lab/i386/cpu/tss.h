/* Task state segments (tables.c). */
#pragma once

#include "cpu/cpu.h"
#include "entry/frame_layout.h"

/* SDM vol. 3, 7.2.1: of 32 bits. With CR4.CET, processors ask for the word behind the I/O map's base, too. */
struct tss {
	uint32_t link;
	struct {
		uint32_t esp, ss;
	} rings[3];
	uint32_t cr3, eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs, ldt;
	uint16_t debug, io_map;
	uint32_t shadow_stack;
};
_Static_assert(offsetof(struct tss, io_map) == 102 && sizeof(struct tss) == 108, "as the processor has it");
_Static_assert(offsetof(struct tss, cr3) == TSS_CR3, "as paths have it");

/* SDM vol. 3, 7.6: of 16 bits. */
struct tss_16 {
	uint16_t link;
	uint16_t rings[6];
	uint16_t ip, flags, ax, cx, dx, bx, sp, bp, si, di;
	uint16_t es, cs, ss, ds, ldt;
};
_Static_assert(sizeof(struct tss_16) == 44, "as the processor has it");

#define TYPE_BUSY  0x2 /* in the type of a TSS */
#define TYPE_SHIFT 40  /* in a descriptor */
#define FLAGS_ONE  2   /* a bit that is always set; interrupts are off */

extern uint64_t gdt[];

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
/* The same for programs, and in the GDT. */
void gate_to_task_opens(unsigned vector, unsigned selector);
void gate_to_task_at(unsigned gate, unsigned selector);
/* A TSS of 16 bits; its code and its stack, each in a segment of 64 KiB that begins there. */
void tables_set_task_16(const struct tss_16 *task, const uint8_t *code, const uint8_t *stack);

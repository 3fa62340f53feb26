/* Task state segments, and descriptors in the tables of protected mode (tables.c). */
#pragma once

#include "cpu/registers.h"
#include "entry/frame_layout.h"
#include "word.h"

#include <stdint.h>

/* What has a type that says how it is aligned must not say anything else of that: a variable's own `aligned` takes the place of its type's. */
#define CPU_AREA       __attribute__((section(".cpu_area")))
#define CPU_AREA_TABLE CPU_AREA __attribute__((aligned(16)))

/*
 * SDM vol. 3, 7.2.1: of 32 bits. With CR4.CET processors ask for the word behind the I/O map's base, too. Aligned so that none lies over
 * the end of a page.
 */
struct tss {
	uint32_t link;
	struct {
		uint32_t esp, ss;
	} rings[3];
	uint32_t cr3, eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs, ldt;
	uint16_t debug, io_map;
	uint32_t shadow_stack;
} __attribute__((aligned(128)));

/* SDM vol. 3, 7.6: of 16 bits. */
struct tss_16 {
	uint16_t link;
	uint16_t rings[6];
	uint16_t ip, flags, ax, cx, dx, bx, sp, bp, si, di;
	uint16_t es, cs, ss, ds, ldt;
} __attribute__((aligned(64)));

#define FLAGS_ONE 2 /* a bit that is always set; interrupts are off */

#define TYPE_LDT	    0x2
#define TYPE_TASK_GATE	    0x5
#define TYPE_TSS_16	    0x1
#define TYPE_TSS	    0x9
#define TYPE_BUSY	    0x2 /* in the type of a TSS */
#define TYPE_CALL_GATE_16   0x4
#define TYPE_CALL_GATE	    0xc
#define TYPE_INTERRUPT_GATE 0xe
#define TYPE_TRAP_GATE	    0xf
#define PRESENT		    0x80
#define USER		    0x60 /* DPL 3 */
#define TYPE		    0x1f /* of these bits, the type */
#define TYPE_SHIFT	    40	 /* in a descriptor */

/* The operand of lgdt and lidt (SDM vol. 3, 3.5.1). */
struct table_pointer {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

extern uint64_t gdt[], ldt[];
extern struct tss tss; /* TR's, while programs run, and the kernel for them but in its tasks */

/* tables.c: where the processor goes from ring 3, unless a gate says otherwise, and by gates to rings 1 and 2 (lab/cpu/tss.h). */
void tss_set_stacks(word top, word ring1_top);

/* A TSS or an LDT; or with another type anything that has a base, a limit in bytes, and DPL 0. */
uint64_t system_descriptor(const void *base, unsigned limit, unsigned type);

/* The TSS whose descriptor is there. */
struct tss *tss_named(unsigned selector);

/* A task of the kernel's that has not begun, in the kernel's page tables; and its descriptor. */
struct tss tss_of_kernel(word code, word stack_top);
void tables_set_task(unsigned selector, const struct tss *task);
/* Points a vector at a task; privilege: USER, or 0. */
void gate_to_task(unsigned vector, unsigned selector, unsigned privilege);

/* SDM vol. 3, 3.4.5: the base in a descriptor, and a descriptor with this one. */
#define ALL_BUT_BASE 0x00ffff000000ffff

static inline word base_of(uint64_t descriptor)
{
	return (word)(descriptor >> 16 & 0xffffff) | (word)(descriptor >> 56) << 24;
}

static inline uint64_t with_base(uint64_t descriptor, word base)
{
	return (descriptor & ALL_BUT_BASE) | (uint64_t)(base & 0xffffff) << 16 | (uint64_t)(base >> 24) << 56;
}

/* SDM vol. 3, 6.11, 5.8.3: a call, interrupt or trap gate. It leads to the ring of the code segment, whoever uses it. */
static inline uint64_t gate(unsigned type, unsigned privilege, unsigned code_segment, word target)
{
	return (target & 0xffff) | (uint64_t)(code_segment & ~SELECTOR_RING) << 16 |
	       (uint64_t)(PRESENT | privilege | type) << TYPE_SHIFT | (uint64_t)(target >> 16) << 48;
}

/* ltr asks for a TSS that is available, and makes it busy (SDM vol. 2A, LTR). */
static inline void make_available(unsigned selector)
{
	gdt[selector / 8] &= ~((uint64_t)TYPE_BUSY << TYPE_SHIFT);
}

/* SDM vol. 3, 7.2.5. */
static inline uint64_t task_gate(unsigned selector, unsigned privilege)
{
	return (uint64_t)selector << 16 | (uint64_t)(PRESENT | privilege | TYPE_TASK_GATE) << TYPE_SHIFT;
}

/*
 * A window in which CR0.PG may change: with tables of gates and descriptors that are found with and without paging (boot/paging.S). An NMI in it is
 * dropped. The descriptors of the kernel's own table may be changed meanwhile.
 */
#pragma once

#define WINDOW_DATA	   0x20 /* a selector: flat data of ring 0 */
#define WINDOW_DESCRIPTORS 5
#define WINDOW_VECTORS	   3 /* NMI is the last */
#define WINDOW_IDT	   8 /* in struct table_pointers */

#ifndef __ASSEMBLER__
#include "word.h"

#include <stdint.h>

/* The operand of lgdt and lidt (SDM vol. 3, 3.5.1). */
struct table_pointer {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

struct table_pointers {
	struct table_pointer gdt __attribute__((aligned(8)));
	struct table_pointer idt __attribute__((aligned(8)));
};

/* Interrupts are off. The tables that were loaded. */
struct table_pointers window_open(void);

/* Behind paging_change and the like, which have loaded the tables: takes away what they used besides. */
void window_close(void);

/* boot/paging.S, at physical addresses: change CR0.PG. */
void paging_change(const struct table_pointers *tables, word cr3, word cr4);
void paging_clear(const struct table_pointers *tables);
void paging_set(const struct table_pointers *tables);
#endif

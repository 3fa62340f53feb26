/*
 * The passage in which CR0.PG may change: with tables of gates and descriptors that are found with and without paging (boot/paging.S). An NMI in it is
 * dropped. The descriptors of the kernel's own table may be changed meanwhile.
 */
#pragma once

#define PASSAGE_DATA	    0x20 /* a selector: flat data of ring 0 */
#define PASSAGE_DESCRIPTORS 5
#define PASSAGE_VECTORS	    3 /* NMI is the last */
#define PASSAGE_IDT	    8 /* in struct table_pointers */

#ifndef __ASSEMBLER__
#include "cpu/tss.h"
#include "word.h"

#include <stdint.h>

struct table_pointers {
	struct table_pointer gdt __attribute__((aligned(8)));
	struct table_pointer idt __attribute__((aligned(8)));
};

/* Interrupts are off. The tables that were loaded. */
struct table_pointers passage_begin(void);

/* Behind paging_change and the like, which have loaded the tables: takes away what they used besides. */
void passage_end(void);

/* boot/paging.S, at physical addresses: change CR0.PG. */
void paging_change(const struct table_pointers *tables, word cr3, word cr4);
void paging_clear(const struct table_pointers *tables);
void paging_set(const struct table_pointers *tables);
#endif

/* What lies where in an address space. */
#pragma once

#define LARGE_PAGE  (2ul << 20)
#define KERNEL_BASE 0xffffffff80000000ul
#define DIRECT_MAP  0xffff888000000000ul /* memory, and only that of tables_init */
#define IMAGE_ALIAS DIRECT_MAP		 /* the image, where all of it may be written */
#define DEVICE_MAP  0xffffc00000000000ul /* devices' registers, screens */

/* The exit stack again, from ESPFIX_MAP on at each of the 65,536 places that differ in bits 31 to 16 (entry/steps/espfix.S), and below. */
#define ESPFIX_AREA 0xffffff0000000000
#define ESPFIX_MAP  0xffffff0100000000

#ifndef __ASSEMBLER__
/* Where a mapped device is accessed now: in long mode always there. Inlined, for the tick does it. */
static inline volatile void *device_now(volatile void *mapped)
{
	return mapped;
}
#endif

/* What an address space has beside its top page tables. */
#define TOPS_BESIDE

/* Of an identifier of an address space (PCID): of a pair, that of programs has this bit besides; the others say which pair it is. */
#define PCID_PROGRAM 0x800
#define PCID_PAIR    0x7ff

/* Ends of programs' addresses. The last page stays free, so that no instruction ends at the end of the lower half. */
#define USER_END    0x7ffffffff000ul
#define USER_END_32 0xffffe000ul

/*
 * Physical memory above is not used, whatever a map says: up to 4 GiB there are the APICs and the firmware's ROM, and nothing
 * here needs more.
 */
#define MEMORY_LIMIT 0xfec00000ul

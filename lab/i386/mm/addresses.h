/*
 * What lies where in an address space of 4 GiB: programs have 3 of them, as in Linux. The kernel's image is mapped apart from the
 * memory that it lies in, so that its code may be read-only where it runs.
 */
#pragma once

#define LARGE_PAGE  (4ul << 20) /* with two levels; with three it is half of that (tables.c) */
#define KERNEL_BASE 0xc0000000ul
#define DIRECT_MAP  0xc4000000ul /* memory, and only that of tables_init */
#define DEVICE_MAP  0xf0000000ul /* devices' registers, screens */
#define DEVICE_END  0xfe000000ul

/* Physical memory above is not used: it would not fit between DIRECT_MAP and DEVICE_MAP. */
#define MEMORY_LIMIT (DEVICE_MAP - DIRECT_MAP)

/* With three levels of page tables, those below the top one: the processor reads its four entries when CR3 is loaded, and not again. */
#define TOPS_BESIDE uint64_t directories[3][PAGE / sizeof(uint64_t)];

/* The end of programs' addresses. The last page stays free. */
#define USER_END    0xbffff000ul
#define USER_END_32 USER_END

/*
 * What lies where in an address space of 4 GiB: programs have 3 of them, as in Linux. Memory and the kernel's image in it are mapped at one
 * distance from where they are, so that a segment whose base is that distance does without page tables (cpu/unpaged.c). Where the image is
 * read-only it is mapped a second time.
 */
#pragma once

#define LARGE_PAGE  (4ul << 20) /* with two levels; with three it is half of that (tables.c) */
#define KERNEL_BASE 0xc0000000ul
#define DIRECT_MAP  KERNEL_BASE	 /* memory, and only that of tables_init */
#define IMAGE_ALIAS 0xee000000ul /* the image's code and constants, where they may be written */
#define DEVICE_MAP  0xf0000000ul /* devices' registers, screens */
#define DEVICE_END  0xfe000000ul

/* Physical memory above is not used: it would not fit below IMAGE_ALIAS. */
#define MEMORY_LIMIT (IMAGE_ALIAS - DIRECT_MAP)

/* With three levels of page tables, those below the top one: the processor reads its four entries when CR3 is loaded, and not again. */
#define TOPS_BESIDE uint64_t directories[3][PAGE / sizeof(uint64_t)];

/* tables.c: where a mapped device is accessed now. Without paging, it is where it is physically. */
volatile void *device_now(volatile void *mapped);

/* What a program has without page tables, from its address 0 on: 128 MiB below the probe, 16 for it, and 64 for the stack and its distance to mmap. */
#define BLOCK_BYTES (208ul << 20)

/* The end of programs' addresses, with page tables. The last page stays free. */
#define USER_END    0xbffff000ul
#define USER_END_32 USER_END

/* Memory: physical pages, page tables, the address space of a program. */
#pragma once

#include "boot/ranges.h"
#include "lab.h"
#include "mm/addresses.h"
#include "word.h"

#include <linux/errno.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096ul

static inline word align_up(word value, word to)
{
	return (value + to - 1) & ~(to - 1);
}

static inline word kernel_to_physical(word address)
{
	return address - KERNEL_BASE;
}

static inline void *physical_to_virtual(word physical)
{
	return (void *)(physical + DIRECT_MAP);
}

static inline word virtual_to_physical(const void *address)
{
	return (word)address - DIRECT_MAP;
}

/* Of the kernel's code and constants: where they may be written. Where they are executed and read, they are read-only. */
static inline void *to_write(word address)
{
	return (void *)(kernel_to_physical(address) + IMAGE_ALIAS);
}

/*
 * pages.c: pages are taken one after the other, and all pages of a program are given back at once. There is no list and
 * no lock. A page that is freed earlier is reused first.
 */
void pages_init(word start, word end); /* physical */
/*
 * Which physical pages are skipped is drawn from this number, and which are the cache's places; 0: none is skipped, and they are in
 * order. Gives back all pages but the kernel's. What the cache has is not where it looks for it any more: cache_forget must have
 * been called, and no program may be alive.
 */
void pages_set_layout(uint64_t drawn_from);
word page_take(void); /* physical, zeroed; 0 when there is none */
void page_free(word physical);
word pages_left(void);
word pages_take_block(
    word
	bytes); /* adjacent ones, not zeroed; 0 when there are not so many, or they are taken: a program has them */
#define CACHE_PLACES 1024
uint64_t page_of_cache(uint64_t place); /* physical, not zeroed; 0 when there is no room for a cache */
int page_is_for_good(word physical);	/* the cache's, or the kernel's */
void pages_keep(void);			/* what was taken until now is the kernel's */
void pages_release(void);		/* everything taken since pages_keep */

/*
 * pcid.c: identifiers of address spaces. There are fewer than there may be address spaces, so each is given for a generation
 * only: when all are given, a new generation begins, in which nobody has any. It is compiled for tests, too.
 */
#define PCID_PAIRS 6 /* as many as Linux uses (arch/x86/mm/tlb.c, TLB_NR_DYN_ASIDS) */
struct pcid {
	uint64_t generation; /* 0: it never had one */
	uint32_t pair;
};
extern uint32_t pcid_pairs; /* how many there are; at least one */
/* Gives an address space a pair, unless it has one of this generation; then 0. If not 0, both must be flushed before use. */
int pcid_take(struct pcid *of);
void pcids_forget(
    void); /* begins a generation: whatever is cached by an identifier is not to be used again */
/* Of a pair: the identifier of the kernel's tables, and of programs' under isolation. 0 is the kernel's own space. */
#define PCID_OF_KERNEL(pair)  ((pair) + 1ul)
#define PCID_OF_PROGRAM(pair) (PCID_OF_KERNEL(pair) | PCID_PROGRAM)

/* tables.c: page tables. Rights of a mapping: */
#define MAP_WRITE   1
#define MAP_EXECUTE 2
#define MAP_USER    4
#define MAP_HELD    8  /* reserved: present for nobody */
#define MAP_DEVICE  16 /* every access reaches the device, in order: uncached */
#define MAP_SCREEN  32 /* as MAP_DEVICE, but an MTRR may have stores combined */
#define MAP_SHADOW  64 /* a program's shadow stack: not to be written to by its instructions */
/*
 * Maps these ranges of whole pages, and the kernel. It needs cpu_find_features, which knows whether there is NX; afterwards
 * page_take has memory only when pages_init was called.
 */
void tables_init(const struct range *memory, unsigned count);
/* Where a device is mapped (MAP_DEVICE or MAP_SCREEN); null when it is out of reach, or there is no memory for page tables. */
volatile void *tables_map_device(word physical, word bytes, unsigned kind);
struct address_space;
/* An empty lower half, and the kernel's upper half. From the first on, that has no new top-level entries. */
void tables_new_space(struct address_space *made);
/* Gives back what its lower half has, pages and tables; of a copy the tables. It must not be the current one. */
void tables_end_space(struct address_space *ended);
/*
 * Copies the current one's lower half to a new one's: the tables, down to the entries of pages, which both then have, and neither
 * may write. 0, or -ENOMEM with some of it copied. tables_flush must follow.
 */
int tables_copy(struct address_space *to);
/* 0 once there are the page tables that an address of a program needs, so that tables_map of it cannot fail; or -ENOMEM. */
int tables_prepare(word address);
/* 0, or -ENOMEM. Behind the last of several changes, this and tables_unmap need tables_flush, or tables_flush_kernel. */
int tables_map(word address, word physical, unsigned rights);
word tables_unmap(word address); /* the physical page that was there, or 0 */
/* Whether the page is mapped, and then its physical address and rights. */
int tables_find(word address, word *physical, unsigned *rights);
/* The first page from an address on that is mapped; `end` when there is none before it. Both are programs' addresses. */
word tables_next(word address, word end);
/* Programs' addresses of so many bits end here. */
word end_of_programs(int bits);
/* Whether programs get one block of memory without page tables. */
int programs_have_blocks(void);
void tables_configure(void); /* CR4, global pages and identifiers, by the switches as they are now */
/* The kernel's half in programs' tables under isolation: pages that are mapped, and those of them that should not be. */
void tables_check_isolation(uint64_t *pages, uint64_t *foreign);
/* Tries whether reading the kernel's memory with those tables is a page fault; 0 without isolation. */
int tables_are_blind(void);

/*
 * flush.c: what the processor is to forget. After a page that was present has changed, before the program goes on: tables_flush for all
 * changes of the current address space, tables_flush_kernel for those of the kernel's half, which every address space has.
 */
void tables_enter(void); /* the processor goes to the tables of the current address space */
void tables_note(void);	 /* in protected mode: CR3 of the TSSs */
void flush_page(
    word address); /* by tables_map and tables_unmap alone: the first part of a flush page by page */
void tables_flush(void);
void tables_flush_kernel(void);
void flush_configure(void); /* by tables_configure alone, which then enters the tables anew */

/* pat.c: makes sure of what the bits of a page-table entry say about caching. */
void memory_types_init(void);
void memory_types_restore(void); /* as firmware had them; the kernel's tables mean something else then */

/* What an area's pages are copied from: `count` bytes, the first of which is `offset` bytes into the area. */
struct source {
	const uint8_t *bytes;
	word count, offset;
};

/*
 * cache.c: pages that programs only read, filled once in a layout. An emulator must translate code again after it was
 * written, which takes longer than running it. Where a page is depends on the layout and on its place in the files, and not on
 * what was read before.
 */
void cache_begin(
    const uint8_t *files); /* where programs' files begin; they are in the same order in every boot */
/* The page that begins so many bytes into the area; physical, 0 when there is no room. */
word cache_page(const struct source *source, word at);
void cache_forget(void);
/* Copies what the source has for a page; the rest of the page is unchanged. */
void source_fill(const struct source *source, word at, uint8_t *to);

/* space.c: what a program may use of its addresses. From space_add on, functions are about the current address space. */
#define PROTECT_READ	1
#define PROTECT_WRITE	2
#define PROTECT_EXECUTE 4
#define PROTECT_SHADOW	8 /* of a shadow stack, which nobody changes */
#define MAX_AREAS	128
struct area {
	word start, end;
	unsigned protection;
	struct source source;
	const uint8_t *pages; /* of the kernel, mapped directly; null if the pages are the program's own */
};

/* Top page tables: the kernel's; in the next page programs', under isolation. */
struct tops {
	uint64_t kernels[PAGE / sizeof(uint64_t)], programs[PAGE / sizeof(uint64_t)];
	TOPS_BESIDE
} __attribute__((aligned(2 * 4096)));

struct address_space {
	struct tops *tops;
	struct pcid pcid;
	int is_used;
	int is_copy;		     /* its pages are those of another, which outlives it */
	struct address_space *other; /* null until space_other is called */
	int bits;
	/* Physical: all of its memory, where there are no page tables; otherwise 0. */
	word block;
	word end;     /* of addresses */
	word map_top; /* mmap looks for room below */
	word break_start, break_now;
	uint64_t minor_faults;
	int read_implies_execute; /* what a program may read it may execute, as its file demands */
	unsigned area_count;
	struct area areas[MAX_AREAS]; /* in order of addresses */
};
extern struct address_space *space;	  /* the current one */
extern struct address_space kernel_space; /* nothing but the kernel; current while no program runs */
extern word user_end;			  /* space->end: here, the check of a pointer needs no other */
void space_init(void);			  /* pages that were taken before remain the kernel's */
void space_enter(struct address_space *to);
/* Ends one that is not the current one; or all, of which none is. */
void space_end(struct address_space *ended);
void space_end_all(void);
/* Makes one, and enters it; there are MOST_THREADS. 0, or -ENOMEM when there is no room for its block. */
long space_new(int bits, word map_top);
/* Makes one alone; null when there is none left, or where it would be a block. */
struct address_space *space_prepare(int bits, word map_top);
/*
 * A copy of the current one, as fork makes it: tables and areas of its own, the same pages, which neither may write. It must end
 * before the program goes on: who writes to a page then has it alone. Null when there is none left, or no memory.
 */
struct address_space *space_copy(void);
/* One with nothing in it, to be switched to; it ends with the current one. Null when there is none left. */
struct address_space *space_other(void);
/*
 * Adds an area, page-aligned, replacing what is there. Its pages come when they are touched: copied from `source`, or
 * zero. 0, -ENOMEM, -EINVAL.
 */
long space_add(word start, word bytes, unsigned protection, struct source source);
long space_remove(word start, word bytes);
/* Changes what lies before the first hole; -ENOMEM if there is one. */
long space_protect(word start, word bytes, unsigned protection);
/* Drops the pages of anonymous areas; the next touch finds zeroes. */
void space_forget(word start, word bytes);
/* Whether areas without a hole cover a range; and whether they are also alike, and anonymous. */
int space_is_whole(word start, word bytes);
int space_is_movable(word start, word bytes);
/* Moves such a range, and makes it longer or shorter; its new address, or -errno. */
long space_move(word start, word bytes, word to, word new_bytes);
int space_protection(word address);   /* -1 where there is no area */
unsigned space_data_protection(void); /* of memory that a program gets unasked: break, stack */
int space_is_free(word start, word bytes);
/* An address with so much room, or 0; and one between two others. */
word space_find(word bytes);
word space_find_in(word bytes, word floor, word top);
long space_set_break(word to);
/* Pages of the kernel's own in a program: the vDSO, its time page. */
long space_add_pages(word start, const void *first, word bytes, unsigned protection);
/* Serves a page fault that an area allows; 0 if none does. `error` is the processor's error code. */
int space_fault(word address, word error);
#define FAULT_PRESENT 1
#define FAULT_WRITE   2
#define FAULT_FETCH   16
#define FAULT_SHADOW  64 /* by an access to a shadow stack */

/* user_memory.c: 0 or -EFAULT. No address at or beyond the program's end is ever touched. */
long user_put_4(word to, uint32_t value);
long user_put_8(word to, uint64_t value);
long user_put_16(word to, uint64_t first, uint64_t second);
long user_write(word to, const void *from, word bytes);
long user_read(void *to, word from, word bytes);

/* vsyscall.c: what there is at the fixed page; VSYSCALL_* of switches.h. */
void vsyscall_init(void);
void vsyscall_configure(unsigned value);

/* serial/log.c */
_Noreturn void panic(const char *why);

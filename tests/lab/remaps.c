/*
 * Changes its memory in all the ways that there are, each time with pages that it has just used: by a translation that is
 * left over, it would find another page than there is. Emulators flush more than they must; what they hide, the kernel's log
 * tells (logged.rs). Exits with 0, or with the number of the first check that fails, counted from 1.
 */
#include "system_call.h"

#include <linux/errno.h>
#include <stdint.h>

#define NR_MMAP		9
#define NR_MPROTECT	10
#define NR_MUNMAP	11
#define NR_BRK		12
#define NR_MREMAP	25
#define NR_MADVISE	28
#define NR_EXIT		60
#define NR_GETTIMEOFDAY 96
#define NR_GETRUSAGE	98
#define NR_COPY_SPACE	508
#define NR_SWITCH	509
#define NR_MAP_UNMAP	510

#define RUSAGE_MINFLT 8

#define NOTHING	     0
#define READ	     1
#define READ_WRITE   3
#define ANONYMOUS    0x22 /* and private */
#define FIXED	     0x10
#define NOREPLACE    0x100000
#define MOVES	     3 /* may move, to a fixed address */
#define DONTNEED     4
#define PAGE	     4096ul
#define FIELD	     0x20000000ul
#define AT(page)     (FIELD + PAGE * (page))
#define FILLER	     0x30000000ul
#define MOST_FILLERS 256ul

static unsigned checks;

static void check(int holds)
{
	checks++;
	while (!holds)
		call(NR_EXIT, checks, 0, 0, 0, 0);
}

static volatile uint64_t *word(uint64_t address)
{
	return (volatile uint64_t *)address;
}

static long map(uint64_t address, uint64_t pages, uint64_t protection, uint64_t flags)
{
	return call(NR_MMAP, address, pages * PAGE, protection, ANONYMOUS | flags, -1ul);
}

/* Fresh pages, each with its number, counted from 1. */
static void fill(uint64_t first, uint64_t pages)
{
	check(map(AT(first), pages, READ_WRITE, FIXED) == (long)AT(first));
	for (uint64_t page = first; page < first + pages; page++)
		*word(AT(page)) = page + 1;
}

static void replace(void)
{
	fill(0, 4);
	check(!call(NR_MUNMAP, AT(1), PAGE, 0, 0, 0));
	check(map(AT(1), 1, READ_WRITE, FIXED) > 0 && *word(AT(1)) == 0 && *word(AT(2)) == 3);
	*word(AT(1)) = 7;
	check(map(AT(0), 4, READ, FIXED) > 0 && *word(AT(1)) == 0 && *word(AT(3)) == 0);
}

static void protect(void)
{
	fill(0, 4);
	check(!call(NR_MPROTECT, AT(1), 2 * PAGE, NOTHING, 0, 0));
	check(!call(NR_MPROTECT, AT(1), PAGE, READ, 0, 0) && *word(AT(1)) == 2);
	check(!call(NR_MPROTECT, AT(1), 2 * PAGE, READ_WRITE, 0, 0));
	*word(AT(1)) += 1;
	*word(AT(2)) += 1;
	check(*word(AT(1)) == 3 && *word(AT(2)) == 4);
}

static void forget(void)
{
	fill(0, 4);
	check(!call(NR_MADVISE, AT(1), 2 * PAGE, DONTNEED, 0, 0));
	check(*word(AT(0)) == 1 && *word(AT(1)) == 0 && *word(AT(2)) == 0 && *word(AT(3)) == 4);
}

static void move(void)
{
	fill(0, 4);
	fill(8, 4);
	check(call(NR_MREMAP, AT(0), 2 * PAGE, 2 * PAGE, MOVES, AT(9)) == (long)AT(9));
	check(*word(AT(8)) == 9 && *word(AT(9)) == 1 && *word(AT(10)) == 2 && *word(AT(11)) == 12);
	check(map(AT(0), 2, READ_WRITE, NOREPLACE) > 0 && *word(AT(0)) == 0 && *word(AT(1)) == 0);
}

static void shrink(void)
{
	const uint64_t start = ((uint64_t)call(NR_BRK, 0, 0, 0, 0, 0) + PAGE - 1) & ~(PAGE - 1);

	check(call(NR_BRK, start + 2 * PAGE, 0, 0, 0, 0) == (long)(start + 2 * PAGE));
	*word(start) = *word(start + PAGE) = 5;
	check(call(NR_BRK, start + PAGE, 0, 0, 0, 0) == (long)(start + PAGE));
	check(call(NR_BRK, start + 2 * PAGE, 0, 0, 0, 0) == (long)(start + 2 * PAGE));
	check(*word(start) == 5 && *word(start + PAGE) == 0);
}

static uint64_t data[2 * PAGE / sizeof(uint64_t)] = {1};

/* Pages that were only read are the kernel's own until they are written, by the program or for it. */
static void write_what_was_read(void)
{
	check(map(AT(0), 2, READ_WRITE, FIXED) > 0 && *word(AT(0)) == 0 && *word(AT(1)) == 0);
	*word(AT(0)) = 6;
	check(*word(AT(0)) == 6 && *word(AT(1)) == 0);
	check(!call(NR_GETTIMEOFDAY, AT(1), 0, 0, 0, 0) && *word(AT(1)) != 0);
	volatile uint64_t *const first = data, *const second = data + PAGE / sizeof(uint64_t);
	check(*first == 1 && *second == 0);
	*second = 8;
	check(*first == 1 && *second == 8);
}

static uint64_t faults(void)
{
	static uint64_t usage[18];

	check(!call(NR_GETRUSAGE, 0, (uint64_t)usage, 0, 0, 0));
	return usage[RUSAGE_MINFLT];
}

/* Each page faults once when it is written, by the program or for it, and has what was in it; what is only read does not fault. */
static void write_what_was_copied(void)
{
	fill(0, 4);
	check(!call(NR_MPROTECT, AT(3), PAGE, READ, 0, 0));
	for (unsigned i = 0; i < 2; i++) {
		check(!call(NR_COPY_SPACE, 0, 0, 0, 0, 0));
		/* The stack's page, and that of the counts. */
		faults();
		const uint64_t before = faults();
		check(*word(AT(0)) == 1 + i && *word(AT(1)) != 0 && *word(AT(2)) == 3 && *word(AT(3)) == 4);
		check(faults() == before);
		*word(AT(0)) = 2 + i;
		check(faults() == before + 1);
		*word(AT(0)) = 2 + i;
		check(!call(NR_GETTIMEOFDAY, AT(1), 0, 0, 0, 0) && *word(AT(1)) > 2);
		check(faults() == before + 2 && *word(AT(0)) == 2 + i);
	}
	/* What was copied can be given back, protected and moved. */
	check(!call(NR_COPY_SPACE, 0, 0, 0, 0, 0) && !call(NR_COPY_SPACE, 0, 0, 0, 0, 0));
	check(!call(NR_MUNMAP, AT(1), PAGE, 0, 0, 0));
	check(map(AT(1), 1, READ_WRITE, FIXED) > 0 && *word(AT(1)) == 0 && *word(AT(2)) == 3);
	check(!call(NR_MPROTECT, AT(3), PAGE, READ_WRITE, 0, 0));
	*word(AT(3)) += 1;
	check(call(NR_MREMAP, AT(2), 2 * PAGE, 2 * PAGE, MOVES, AT(8)) == (long)AT(8));
	*word(AT(8)) += 1;
	check(*word(AT(8)) == 4 && *word(AT(9)) == 5);
}

/* More often than there are pages, and identifiers of address spaces. */
static void visit(void)
{
	fill(0, 2);
	for (unsigned i = 0; i < 40; i++) {
		check(!call(NR_SWITCH, 0, 0, 0, 0, 0) && *word(AT(1)) == 2 + i);
		*word(AT(1)) = 3 + i;
		check(!call(NR_MAP_UNMAP, 0, 0, 0, 0, 0) && *word(AT(0)) == 1);
	}
}

/* The kernel has no room for the parts that a move leaves of an area: then it must not move. */
static void move_without_room(void)
{
	uint64_t fillers = 0;

	fill(0, 3);
	check(!call(NR_MUNMAP, AT(3), 16 * PAGE, 0, 0, 0));
	while (fillers < MOST_FILLERS && map(FILLER + 2 * fillers * PAGE, 1, READ, FIXED) > 0)
		fillers++;
	check(fillers < MOST_FILLERS);
	for (uint64_t room = 0; room < 8; room++) {
		const long result = call(NR_MREMAP, AT(1), PAGE, PAGE, MOVES, AT(8));
		check(result == (long)AT(8) || result == -ENOMEM);
		check(*word(AT(0)) == 1 && *word(AT(2)) == 3);
		if (result == -ENOMEM) {
			check(*word(AT(1)) == 2);
			check(!call(NR_MUNMAP, FILLER + 2 * room * PAGE, PAGE, 0, 0, 0));
			continue;
		}
		check(*word(AT(8)) == 2);
		check(map(AT(1), 1, READ_WRITE, NOREPLACE) == (long)AT(1) && *word(AT(1)) == 0);
		return;
	}
	check(0);
}

void _start(void);

void _start(void)
{
	replace();
	protect();
	forget();
	move();
	shrink();
	write_what_was_read();
	write_what_was_copied();
	visit();
	move_without_room();
	for (;;)
		call(NR_EXIT, 0, 0, 0, 0, 0);
}

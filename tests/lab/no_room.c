/*
 * Moves a page to where there are no page tables, when there is no memory left for any. mremap then refuses, and the page is where
 * it was, with what it held. Exits with 0, or with the number of the first check that fails, counted from 1.
 */
#include "system_call.h"

#include <linux/errno.h>
#include <stdint.h>

#define NR_MMAP	   9
#define NR_MREMAP  25
#define NR_EXIT	   60
#define NR_SYSINFO 99

#define READ_WRITE 3
#define ANONYMOUS  0x22 /* and private */
#define FIXED	   0x10
#define MOVES	   3 /* may move, to a fixed address */
#define PAGE	   4096ul
#define FIELD	   0x20000000ul
#define FAR_AWAY   0x100000000000ul
#define MARK	   0x5a01
#define FREE	   5 /* of struct sysinfo, in words */

static unsigned checks;

static void check(int holds)
{
	checks++;
	while (!holds)
		call(NR_EXIT, checks, 0, 0, 0, 0);
}

static uint64_t free_memory(void)
{
	static uint64_t info[14];

	check(call(NR_SYSINFO, (uint64_t)info, 0, 0, 0, 0) == 0);
	checks--;
	return info[FREE];
}

void _start(void);

void _start(void)
{
	const uint64_t bytes = free_memory();
	volatile uint64_t *const field = (volatile uint64_t *)FIELD;

	check(call(NR_MMAP, FIELD, bytes, READ_WRITE, ANONYMOUS | FIXED, -1ul) == (long)FIELD);
	*field = MARK;
	/* The next page may need a table, too: it then takes the last two. */
	for (uint64_t at = PAGE; free_memory() > PAGE; at += PAGE)
		field[at / sizeof(*field)] = at;
	check(free_memory() <= PAGE);
	check(call(NR_MREMAP, FIELD, PAGE, PAGE, MOVES, FAR_AWAY) == -ENOMEM);
	check(*field == MARK);
	call(NR_EXIT, 0, 0, 0, 0, 0);
	for (;;)
		;
}

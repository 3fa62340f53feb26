/*
 * Sizes and addresses that wrap when they are added, in every call that changes the address space: each must answer as Linux
 * 6.1 does, and change nothing. Exits with 0, or with the number of the first call that does not, counted from 1.
 */
#include "system_call.h"

#include <linux/errno.h>
#include <stdint.h>

#define NR_MMAP	   9
#define NR_MUNMAP  11
#define NR_BRK	   12
#define NR_MREMAP  25
#define NR_MADVISE 28
#define NR_EXIT	   60

#define READ_WRITE	  3
#define PRIVATE_ANONYMOUS 0x22
#define MAY_MOVE	  1
#define DONTNEED	  4

#define PAGE  4096ul
#define PAGES 16
#define LAST  -PAGE /* the last page of all addresses */
#define BASE  12345 /* stands for the pages that are mapped */
#define SAME  1	    /* what brk answers to what it does not do: where the break is */

static const struct call {
	long number;
	unsigned long address, bytes, third, fourth;
	long expected;
} calls[] = {
    {NR_MREMAP, BASE, PAGE, -PAGE, MAY_MOVE, -ENOMEM},
    {NR_MREMAP, BASE, PAGE, -2 * PAGE, MAY_MOVE, -ENOMEM},
    {NR_MREMAP, BASE, PAGE, 1ul << 47, MAY_MOVE, -ENOMEM},
    {NR_MREMAP, BASE, PAGE, -1ul, MAY_MOVE, -EINVAL},
    {NR_MREMAP, BASE, -1ul, PAGE, 0, -EINVAL},
    {NR_MREMAP, BASE, -PAGE, PAGE, 0, -EINVAL},
    {NR_MREMAP, LAST, 3 * PAGE, PAGE, 0, -EFAULT},
    {NR_MREMAP, LAST, PAGE, PAGE, 0, -EFAULT},
    {NR_MREMAP, PAGE, PAGE, PAGE, 0, -EFAULT},
    {NR_MREMAP, BASE + 1, PAGE, PAGE, 0, -EINVAL},
    {NR_MUNMAP, BASE, -1ul, 0, 0, -EINVAL},
    {NR_MUNMAP, BASE, -PAGE, 0, 0, -EINVAL},
    {NR_MUNMAP, LAST, 2 * PAGE, 0, 0, -EINVAL},
    {NR_MADVISE, BASE, -1ul, DONTNEED, 0, -EINVAL},
    {NR_MADVISE, BASE, -PAGE, DONTNEED, 0, -EINVAL},
    {NR_MADVISE, LAST, 2 * PAGE, DONTNEED, 0, -EINVAL},
    {NR_BRK, -1ul, 0, 0, 0, SAME},
    {NR_BRK, LAST, 0, 0, 0, SAME},
};

static int holds(const struct call *row, unsigned long base, long old_break)
{
	const unsigned long away = row->address - BASE, address = away < PAGE ? base + away : row->address;
	const long result = call(row->number, address, row->bytes, row->third, row->fourth, 0);

	for (unsigned long i = 0; i < PAGES; i++)
		if (*(volatile unsigned long *)(base + i * PAGE) != i + 1)
			return 0;
	return result == (row->expected == SAME ? old_break : row->expected);
}

void _start(void);

void _start(void)
{
	const unsigned long base =
	    (unsigned long)call(NR_MMAP, 0, PAGES * PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1);
	const long old_break = call(NR_BRK, 0, 0, 0, 0, 0);
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < PAGES; i++)
		*(volatile unsigned long *)(base + i * PAGE) = i + 1;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]) && !wrong; i++)
		if (!holds(&calls[i], base, old_break))
			wrong = i + 1;
	for (;;)
		call(NR_EXIT, wrong, 0, 0, 0, 0);
}

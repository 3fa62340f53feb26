/* The pages below stacks (stacks.S, cpu/tables.c). */
#include "entry/entry.h"
#include "mm/mm.h"

extern const word guard_pages_start[], guard_pages_end[];

void guard_pages_unmap(void)
{
	for (const word *page = guard_pages_start; page < guard_pages_end; page++)
		tables_unmap(*page);
	tables_flush_kernel();
}

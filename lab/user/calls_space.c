/* What a kernel does to address spaces, each in a call of its own, so that it can be measured. No Linux has these calls. */
#include "cpu/cpu.h"
#include "mm/mm.h"
#include "user/calls.h"
#include "user/thread.h"

/*
 * What fork does to memory, and the end of the child: page tables are copied, pages are shared and write-protected on both sides, and
 * translations are flushed. As after fork, the program then takes a page fault for each page that it writes to.
 */
long call_copy_space(void)
{
	struct address_space *const copy = space_copy();

	if (!copy)
		return -EAGAIN;
	space_end(copy);
	return 0;
}

/* To another address space, and back: twice what a change of threads does to page tables. Nothing runs there. */
long call_switch(void)
{
	struct address_space *const here = space, *const there = space_other();

	if (!there)
		return -EAGAIN;
	const word flags = interrupts_off();
	space_enter(there);
	space_enter(here);
	interrupts_restore(flags);
	current->switches++;
	return 0;
}

/* The page is mapped at once, as by mmap with MAP_POPULATE, and touched by its address in the program. */
long call_map_unmap(void)
{
	const uint64_t at = space_find(PAGE);
	const long problem =
	    at ? space_add(at, PAGE, PROTECT_READ | PROTECT_WRITE, (struct source){0}) : -ENOMEM;

	if (problem)
		return problem;
	const int is_touched = space_fault(at, FAULT_WRITE) && !user_put_8(at, at);
	const long left = space_remove(at, PAGE);
	return is_touched ? left : -ENOMEM;
}

/*
 * Flushes: what makes the processor forget translations. In protected mode there are no identifiers of address spaces, so that each write
 * of CR3 forgets all but global translations. The switch flush-by says how.
 */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "mm/mm.h"

/* All translations, the global ones, too: whenever the bit changes. */
static void flush_by_pge(void)
{
	const word cr4 = read_cr4();

	write_cr4(cr4 ^ CR4_PGE);
	write_cr4(cr4);
}

void flush_page(word address)
{
	if (configured[SWITCH_FLUSH_BY] == FLUSH_BY_INVLPG)
		invlpg(address);
	else if (configured[SWITCH_FLUSH_BY] == FLUSH_BY_INVPCID)
		invpcid(0, 0, address);
}

void tables_flush(void)
{
	if (configured[SWITCH_FLUSH_BY] == FLUSH_BY_CR3)
		write_cr3(kernel_cr3);
	else if (configured[SWITCH_FLUSH_BY] == FLUSH_BY_PGE)
		flush_by_pge();
}

void tables_flush_kernel(void)
{
	if (configured[SWITCH_GLOBAL] == GLOBAL_ON)
		flush_by_pge();
	else
		write_cr3(kernel_cr3);
}

/*
 * The task of programs is gone back to by those that serve programs, which have called it with their tables; with events-by=task by others, too,
 * which have interrupted it with any. Then paths write it whenever they write CR3, and it is the kernel's here.
 */
static word of_programs_task(void)
{
	const int is_programs = configured[SWITCH_PTI] == PTI_ON && configured[SWITCH_EVENTS_BY] == EVENTS_BY_GATE;

	return is_programs ? user_cr3 : kernel_cr3;
}

void tables_enter(void)
{
	kernel_cr3 = kernel_to_physical((word)space->tops->kernels);
	user_cr3 = kernel_to_physical((word)space->tops->programs);
	tss_set_tables(kernel_cr3, of_programs_task());
	write_cr3(kernel_cr3);
}

void pcids_forget(void)
{
}

void flush_configure(void)
{
}

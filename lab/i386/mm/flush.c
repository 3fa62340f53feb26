/*
 * Flushes: what makes the processor forget translations. In protected mode there are no identifiers of address spaces, so that each write
 * of CR3 forgets all but global translations. The switch flush-by says how.
 */
#include "cpu/cpu.h"
#include "cpu/unpaged.h"
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

/* Before CR3 is written: a task that then interrupts the kernel comes back to the new tables (cpu/events.h). */
void tables_note(void)
{
	tss_set_tables(kernel_cr3, configured[SWITCH_PTI] == PTI_ON ? user_cr3 : kernel_cr3);
}

static void enter(const struct tops *tops)
{
	kernel_cr3 = kernel_to_physical((word)tops->kernels);
	user_cr3 = kernel_to_physical((word)tops->programs);
	tables_note();
	write_cr3(kernel_cr3);
}

/* To or from a space without page tables, which leaves the kernel's own in CR3. */
static void change_paging(void)
{
	const word flags = interrupts_off();

	if (unpaged_distance)
		unpaged_end();
	enter(space->block ? kernel_space.tops : space->tops);
	if (space->block)
		unpaged_begin(space->block);
	interrupts_restore(flags);
}

void tables_enter(void)
{
	if (space->block || unpaged_distance)
		change_paging();
	else
		enter(space->tops);
}

void pcids_forget(void)
{
}

void flush_configure(void)
{
}

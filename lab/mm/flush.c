/*
 * Flushes: what makes the processor forget translations, and the identifiers under which it keeps them (PCID; SDM vol. 3, 4.10; APM
 * vol. 2, 5.5). The switch flush-by says how, the switch pcid what there is to flush:
 *
 *	pcid=off	both tables of an address space have identifier 0, and each write of CR3 flushes it
 *	pcid=flush	a pair of identifiers for each address space; CR3 is written without the bit that keeps translations
 *	pcid=keep	with the bit: a flush is one of both identifiers
 *	pcid=lazy	with the bit; of programs' identifiers user_flush_mask has those that the way out is to flush (steps.inc), as
 *			Linux's user_pcid_flush_mask has them (arch/x86/entry/calling.h, SWITCH_TO_USER_CR3; mm/tlb.c, invalidate_user_asid)
 *
 * Without isolation, programs run with the kernel's identifier, and there is no other.
 */
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "mm/mm.h"
#include "mm/tlb.h"

#define CR3_NO_FLUSH (1ul << 63)

/* SDM vol. 2A, INVPCID. All but the third leave global translations. */
#define INVPCID_PAGE	       0
#define INVPCID_IDENTIFIER     1
#define INVPCID_ALL	       2
#define INVPCID_ALL_BUT_GLOBAL 3

static int invlpg_misses_globals;

/* Of the current address space. The kernel's own has 0; only boot, checks and the end of programs are there. */
static int has_pair(void)
{
	return configured[SWITCH_PCID] != PCID_OFF && space != &kernel_space;
}

static uint64_t kernels_identifier(void)
{
	return has_pair() ? PCID_OF_KERNEL(space->pcid.pair) : 0;
}

static uint64_t programs_identifier(void)
{
	return has_pair() ? PCID_OF_PROGRAM(space->pcid.pair) : 0;
}

/* Whether programs have an identifier that nothing flushes unless it is flushed here, in this way. */
static int programs_are(unsigned pcid)
{
	return configured[SWITCH_PTI] == PTI_ON && configured[SWITCH_PCID] == pcid && has_pair();
}

/* The next way out flushes the program's identifier. */
static void flush_on_the_way_out(void)
{
	if (!programs_are(PCID_LAZY))
		return;
	TLB_NOTE(TLB_SETTLED, 0, 0); /* paths found the old mask until here */
	user_flush_mask |= 1ul << kernels_identifier();
}

/* In the trampoline, because it runs with programs' page tables for a moment. */
__attribute__((section(".trampoline"), noinline)) static void load_both(uint64_t program, uint64_t kernel)
{
	__asm__ volatile("mov %0, %%cr3; mov %1, %%cr3" : : "r"(program), "r"(kernel) : "memory");
	TLB_NOTE(TLB_CR3, program, 0);
	TLB_NOTE(TLB_CR3, kernel, 0);
}

/* Flushes the program's identifier if that is kept, and then writes this to CR3 in the kernel's. */
static void load_after_programs(uint64_t kernel)
{
	/* An interrupt in between would have no stack in the programs' tables. */
	const word flags = interrupts_off();

	load_both(user_cr3 & ~CR3_NO_FLUSH, kernel);
	interrupts_restore(flags);
}

/* Goes to the current address space, and flushes its identifiers: a write to CR3 flushes its own. */
static void flush_by_cr3(void)
{
	const uint64_t kernel = kernel_cr3 & ~CR3_NO_FLUSH;

	if (programs_are(PCID_KEEP))
		load_after_programs(kernel);
	else
		write_cr3(kernel);
	flush_on_the_way_out();
}

/* All translations of all identifiers, the global ones, too: whenever the bit changes. */
static void flush_by_pge(void)
{
	const uint64_t cr4 = read_cr4();

	write_cr4(cr4 ^ CR4_PGE);
	write_cr4(cr4);
}

void flush_page(uint64_t address)
{
	const int is_kernels = address >= USER_END;

	if (configured[SWITCH_FLUSH_BY] == FLUSH_BY_INVLPG)
		invlpg(address);
	if (configured[SWITCH_FLUSH_BY] != FLUSH_BY_INVPCID || is_kernels)
		return;
	invpcid(INVPCID_PAGE, kernels_identifier(), address);
	if (programs_are(PCID_KEEP))
		invpcid(INVPCID_PAGE, programs_identifier(), address);
}

void tables_flush(void)
{
	switch (configured[SWITCH_FLUSH_BY]) {
	case FLUSH_BY_CR3:
		flush_by_cr3();
		break;
	case FLUSH_BY_PGE:
		flush_by_pge();
		break;
	case FLUSH_BY_INVLPG: /* flush_page has: with the kernel's identifier, which is no other's but under isolation */
		if (programs_are(PCID_KEEP))
			load_after_programs(kernel_cr3);
		flush_on_the_way_out();
		break;
	default: /* flush_page has */
		flush_on_the_way_out();
	}
	TLB_NOTE(TLB_SETTLED, 0, UINT64_MAX);
}

/*
 * Translations of the kernel's half are kept with every identifier. Where not all are flushed at once, a new generation begins, in which
 * each is before its next use; Linux does so, too (mm/tlb.c, flush_tlb_one_kernel and invalidate_other).
 */
void tables_flush_kernel(void)
{
	const int has_globals = configured[SWITCH_GLOBAL] == GLOBAL_ON;
	const unsigned by = configured[SWITCH_FLUSH_BY];

	if (by == FLUSH_BY_INVPCID) {
		invpcid(has_globals ? INVPCID_ALL : INVPCID_ALL_BUT_GLOBAL, 0, 0);
	} else if (by == FLUSH_BY_PGE || (has_globals && (by == FLUSH_BY_CR3 || invlpg_misses_globals))) {
		flush_by_pge();
	} else {
		pcids_forget();
		flush_by_cr3();
	}
	TLB_NOTE(TLB_SETTLED, 0, UINT64_MAX);
}

/*
 * Goes to the current address space, whose identifiers were another's. The kernel's is flushed by the write that goes there, whatever
 * flush-by says: it may be the one with which the other tables are in use until then. Linux does so, too (mm/tlb.c, load_new_mm_cr3).
 */
static void enter_anew(void)
{
	const unsigned by = configured[SWITCH_FLUSH_BY];

	if (!programs_are(PCID_KEEP) || (by != FLUSH_BY_INVPCID && by != FLUSH_BY_PGE)) {
		flush_by_cr3();
		return;
	}
	write_cr3(kernel_cr3 & ~CR3_NO_FLUSH);
	if (by == FLUSH_BY_INVPCID)
		invpcid(INVPCID_IDENTIFIER, programs_identifier(), 0);
	else
		flush_by_pge();
}

/* Whatever a pair of identifiers still has of another address space is flushed before the first use. */
void tables_enter(void)
{
	const uint64_t keep = configured[SWITCH_PCID] == PCID_FLUSH || !has_pair() ? 0 : CR3_NO_FLUSH;
	const int is_new = has_pair() && pcid_take(&space->pcid);

	TLB_NOTE(TLB_SETTLED, 0, 0); /* paths wrote the old values until here */
	kernel_cr3 = kernel_to_physical((word)space->tops->kernels) | kernels_identifier() | keep;
	user_cr3 = kernel_to_physical((word)space->tops->programs) | programs_identifier() | keep;
	user_pcid = kernels_identifier();
	if (is_new)
		enter_anew();
	else
		write_cr3(kernel_cr3);
}

static int find_errata(void)
{
	if (configured[SWITCH_PCID] == PCID_OFF || cpu.vendor != VENDOR_INTEL)
		return 0;
	const uint32_t model = cpuid(1, 0).eax;
	/* No model is asked for its microcode that has no fault with any. */
	return errata_invlpg_misses_globals(model, 0) &&
	       errata_invlpg_misses_globals(model, microcode_revision());
}

void flush_configure(void)
{
	pcid_pairs = configured[SWITCH_ASIDS] ? configured[SWITCH_ASIDS] : PCID_PAIRS;
	invlpg_misses_globals = find_errata();
	user_flush_mask = 0;
	pcids_forget();
}

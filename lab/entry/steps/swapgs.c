/* The base that GS has in programs, wherever it is while the kernel runs (swapgs.S). Of the current thread, in a system call. */
#include "entry/entry.h"
#include "entry/steps/steps.h"

static int is_swapped(void)
{
	return configured[SWITCH_SWAPGS] != SWAPGS_OFF;
}

static uint32_t register_of_program(void)
{
	return is_swapped() ? MSR_KERNEL_GS : MSR_GS_BASE;
}

uint64_t gs_base(void)
{
	return rdmsr(register_of_program());
}

void gs_set_base(uint64_t base)
{
	wrmsr(register_of_program(), base);
}

/* The selector has been loaded, which may have changed the base that is in place. As Linux's, the kernel's is that of its variables. */
void gs_begin(uint64_t base)
{
	if (is_swapped())
		wrmsr(MSR_GS_BASE, (uint64_t)&kernel_cr3);
	gs_set_base(base);
}

void gs_load(uint16_t selector)
{
	const word flags = interrupts_off();

	if (is_swapped())
		__asm__ volatile("swapgs");
	__asm__ volatile("mov %0, %%gs" : : "r"((uint32_t)selector));
	/* Without mfence, swapgs on AMD's first 64-bit processors may store the base that was there before (Linux's
	   X86_BUG_SWAPGS_FENCE). */
	if (is_swapped())
		__asm__ volatile("mfence; swapgs" : : : "memory");
	interrupts_restore(flags);
}

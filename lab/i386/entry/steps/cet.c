/* Control-flow enforcement: 32-bit programs have no shadow stack, as in Linux (lab/entry/steps/shadow-stack.c). */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/steps/steps.h"

void shadow_stack_configure(void)
{
	const word cr4 = read_cr4();
	const int is_wanted = configured[SWITCH_IBT] == IBT_ON;
	const word wanted = is_wanted ? cr4 | CR4_CET : cr4 & ~(word)CR4_CET;

	/* These exist where the switch can be on, and then have nothing of firmware's when CR4.CET is set. */
	if (is_wanted || cr4 & CR4_CET) {
		wrmsr(MSR_S_CET, 0);
		wrmsr(MSR_U_CET, 0);
	}
	if (cr4 != wanted)
		write_cr4(wanted);
}

uint64_t shadow_stack_pointer(void)
{
	return 0;
}

void shadow_stack_enter(uint64_t pointer)
{
	(void)pointer;
}

int shadow_stack_return(uint64_t to)
{
	(void)to;
	return 1;
}

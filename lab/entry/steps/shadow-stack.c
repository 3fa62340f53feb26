/*
 * shadow-stack=on: the processor keeps a second stack of return addresses for 64-bit programs, which their instructions cannot write to,
 * and raises #CP when a return goes elsewhere (SDM vol. 1, 17). There is no step in any path: an entry from ring 3 saves the pointer to
 * IA32_PL3_SSP, and the way back (sysret, sysexit, iret, a far return) loads it, which is all that an entry pays. The kernel has no
 * shadow stack itself (IA32_S_CET).
 *
 * As in Linux, 32-bit programs have none. A program that runs beside others has a pointer of its own.
 */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"
#include "user/thread.h"

static int is_on(void)
{
	return configured[SWITCH_SHADOW_STACK] == SHADOW_STACK_ON;
}

/* CR4.CET switches both halves of the technique on, each of which U_CET and S_CET then have a bit for. CR0.WP is set, as it must be. */
void shadow_stack_configure(void)
{
	const uint64_t cr4 = read_cr4();
	const int is_wanted = is_on() || configured[SWITCH_IBT] == IBT_ON;
	const uint64_t wanted = is_wanted ? cr4 | CR4_CET : cr4 & ~(uint64_t)CR4_CET;

	/* These exist where the switches can be on, and then have nothing of firmware's when CR4.CET is set. */
	if (is_wanted || cr4 & CR4_CET) {
		wrmsr(MSR_S_CET, 0);
		wrmsr(MSR_U_CET, 0);
	}
	if (cr4 != wanted)
		write_cr4(wanted);
}

uint64_t shadow_stack_pointer(void)
{
	return rdmsr(MSR_PL3_SSP);
}

void shadow_stack_enter(uint64_t pointer)
{
	if (!is_on())
		return;
	wrmsr(MSR_PL3_SSP, pointer);
	wrmsr(MSR_U_CET, pointer ? CET_SHADOW_STACK : 0);
}

int shadow_stack_return(uint64_t to)
{
	uint64_t address;

	if (!is_on() || !current->shadow_stack)
		return 1;
	const uint64_t pointer = shadow_stack_pointer();
	if (user_read(&address, pointer, sizeof(address)) || address != to)
		return 0;
	wrmsr(MSR_PL3_SSP, pointer + sizeof(address));
	return 1;
}

/*
 * ibt=on: in ring 0, what an indirect call or jump goes to must be endbr64, or the processor raises #CP (indirect branch tracking: SDM
 * vol. 1, 17.3). It looks at its own ways in, too: exceptions and interrupts, call gates, syscall, sysenter. So endbr64 stands
 *
 * - at the beginning of each path (LANDING of path.inc), also of those to which C code jumps;
 * - at that of each stub, of which there is a second kind (exception.S);
 * - in front of each service, to which the tables of calls point (calls.h makes room for it).
 *
 * There is no other indirect branch while programs run: the compiler makes no tables of jumps (crates/places/build/lab.rs), and a test looks at
 * the kernel's file. While none runs, nothing is watched: boot, plan and screen call through pointers.
 *
 * An interrupt between an indirect branch and endbr64 forgets that the latter is due (SDM vol. 1, 17.3.6), and disturbs nothing.
 */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "user/calls.h"

static int is_on(void)
{
	return configured[SWITCH_IBT] == IBT_ON;
}

/* Programs do not run, and nothing is watched. */
void ibt_configure(void)
{
	static int was_on;

	if (was_on == is_on())
		return;
	was_on = is_on();
	gates_land();
	calls_init();
}

void ibt_watch(int is_watched)
{
	if (is_on())
		wrmsr(MSR_S_CET, is_watched ? CET_ENDBRANCH : 0);
}

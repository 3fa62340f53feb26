/*
 * Times are judged in core cycles, by the loop in ring 3, which runs natively in every virtual machine. The command
 * judges the same words by the same thresholds (docs/lab.md, When times are believed); a test compares the verdicts.
 */
#include "plan/verdict.h"
#include "lab.h"

#define MOST_TICKS (1ull << 40) /* so that nothing overflows; minutes on every processor */

static uint64_t bounded(uint64_t ticks)
{
	return ticks < MOST_TICKS ? ticks : MOST_TICKS;
}

/* Whether RING_TIMES of something take so many core cycles each; `ring3` are the ticks of the loop. */
static int takes(uint64_t ticks, uint64_t ring3, uint64_t cycles)
{
	return ticks * (RING_TURNS * RING_TURN_CYCLES) >= cycles * RING_TIMES * ring3;
}

static int is_emulated(const uint64_t *boot)
{
	const uint64_t ring0 = boot[LAB_BOOT_RING0_TICKS], ring3 = boot[LAB_BOOT_RING3_TICKS];

	return !ring0 || !ring3 || ring0 > MOST_TICKS || ring3 > MOST_TICKS ||
	       ring0 > RING_SAME_LOOP * ring3 || ring3 > RING_SAME_LOOP * ring0 ||
	       !boot[LAB_BOOT_SYSCALL_WORKS] || !boot[LAB_BOOT_INTERRUPT_TICKS] ||
	       boot[LAB_BOOT_SIGNS] >> SIGN_DEPRIVILEGED & 1;
}

/* Whether something from ring 3 and back comes by way of the hypervisor; `ticks` 0: it does not work. */
static int is_passed_on(const uint64_t *boot, uint64_t ticks)
{
	const uint64_t ring3 = boot[LAB_BOOT_RING3_TICKS], exit = bounded(boot[LAB_BOOT_CPUID_TICKS]);

	if (!takes(exit, ring3, RING_EXIT))
		return takes(ticks, ring3, RING_CROSSING_UNKNOWN_EXIT);
	return ticks > exit && takes(ticks - exit, ring3, RING_CROSSING);
}

/* A processor does this much faster than it leaves a guest. */
static int is_exit(const uint64_t *boot, uint64_t ticks)
{
	return takes(ticks, boot[LAB_BOOT_RING3_TICKS], RING_EXIT);
}

/* It may do this as slowly. */
static int is_exit_like_cpuid(const uint64_t *boot, uint64_t ticks)
{
	const uint64_t exit = bounded(boot[LAB_BOOT_CPUID_TICKS]);

	if (!is_exit(boot, exit))
		return takes(ticks, boot[LAB_BOOT_RING3_TICKS], RING_CROSSING_UNKNOWN_EXIT);
	return is_exit(boot, ticks) && 4 * ticks >= RING_EXIT_QUARTERS * exit;
}

/* It may do this more slowly. */
static int is_dear_exit(const uint64_t *boot, uint64_t ticks)
{
	const uint64_t exit = bounded(boot[LAB_BOOT_CPUID_TICKS]);

	return is_exit(boot, exit) && ticks >= exit && takes(ticks, boot[LAB_BOOT_RING3_TICKS], RING_COMMAND);
}

static const struct {
	unsigned word, trapped;
	int (*is_trapped)(const uint64_t *boot, uint64_t ticks);
} judged[] = {
    {LAB_BOOT_CR3_TICKS, TRAPPED_CR3_WRITES, is_exit},
    {LAB_BOOT_INTERRUPT_TICKS, TRAPPED_INTERRUPTS, is_passed_on},
    {LAB_BOOT_INVALID_TICKS, TRAPPED_INVALID, is_passed_on},
    {LAB_BOOT_CR4_TICKS, TRAPPED_CR4_WRITES, is_exit_like_cpuid},
    {LAB_BOOT_SPEC_CTRL_TICKS, TRAPPED_SPEC_CTRL, is_exit_like_cpuid},
    {LAB_BOOT_PRED_CMD_TICKS, TRAPPED_PRED_CMD, is_dear_exit},
    {LAB_BOOT_FLUSH_CMD_TICKS, TRAPPED_FLUSH_CMD, is_dear_exit},
    {LAB_BOOT_INVPCID_TICKS, TRAPPED_INVPCID, is_exit},
    {LAB_BOOT_INVLPG_TICKS, TRAPPED_INVLPG, is_exit},
};

struct verdict verdict_of(const uint64_t *boot)
{
	struct verdict verdict = {.is_emulated = is_emulated(boot)};

	if (verdict.is_emulated)
		return verdict;
	for (unsigned i = 0; i < sizeof(judged) / sizeof(judged[0]); i++)
		if (judged[i].is_trapped(boot, bounded(boot[judged[i].word])))
			verdict.trapped |= judged[i].trapped;
	return verdict;
}

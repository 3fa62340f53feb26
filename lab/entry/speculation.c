/*
 * What the processor may speculate on, as far as registers decide that: SPEC_CTRL, and AMD's automatic IBRS in EFER. Bits that no
 * switch is for stay as they were found.
 */
#include "entry/entry.h"

#define MANAGED (SPEC_CTRL_IBRS | SPEC_CTRL_STIBP | SPEC_CTRL_SSBD | SPEC_CTRL_BHI_DIS_S)

static struct {
	int has; /* whether CPUID tells of the register */
	uint64_t found, now;
} control;

void speculation_find(void)
{
	control.has = (cpu_has(FEATURE_IBRS) || cpu_has(FEATURE_STIBP) || cpu_has(FEATURE_SSBD) ||
		       cpu_has(FEATURE_BHICTRL)) &&
		      rdmsr_safe(MSR_SPEC_CTRL, &control.found);
	control.now = control.found;
}

/* With ibrs=on this is the kernel's value, and the paths clear IBRS for programs. */
static uint64_t wanted_control(void)
{
	const int enhanced = configured[SWITCH_IBRS] == IBRS_ENHANCED && !cpu.has_automatic_ibrs;
	uint64_t value = control.found & ~(uint64_t)MANAGED;

	value |= enhanced || configured[SWITCH_IBRS] == IBRS_ON ? SPEC_CTRL_IBRS : 0;
	value |= configured[SWITCH_STIBP] == STIBP_ON ? SPEC_CTRL_STIBP : 0;
	value |= configured[SWITCH_SSBD] == SSBD_ON ? SPEC_CTRL_SSBD : 0;
	value |= configured[SWITCH_BHB] == BHB_HARDWARE ? SPEC_CTRL_BHI_DIS_S : 0;
	return value;
}

/* A register that the processor lacks is written only if something is to be on in it, without effect (paths_allow_harmless). */
static void write_control(uint64_t value)
{
	spec_ctrl = value;
	if (value != control.now)
		wrmsr(MSR_SPEC_CTRL, value);
	control.now = value;
}

static void configure_automatic_ibrs(int is_on)
{
	const uint64_t before = cpu.has_automatic_ibrs ? rdmsr(MSR_EFER) : 0;
	const uint64_t after = is_on ? before | EFER_AIBRSE : before & ~(uint64_t)EFER_AIBRSE;

	if (cpu.has_automatic_ibrs && after != before)
		wrmsr(MSR_EFER, after);
}

void speculation_configure(void)
{
	write_control(wanted_control());
	configure_automatic_ibrs(configured[SWITCH_IBRS] == IBRS_ENHANCED);
	any_time_steps = (configured[SWITCH_IBRS] == IBRS_ON ? ANY_TIME_IBRS : 0) |
			 (configured[SWITCH_ENTRY_IBPB] == ENTRY_IBPB_ON ? ANY_TIME_IBPB : 0) |
			 (configured[SWITCH_RETURNS] == RETURNS_UNTRAIN ? ANY_TIME_UNTRAIN : 0) |
			 (configured[SWITCH_VERW] == VERW_ON ? ANY_TIME_VERW : 0) |
			 (configured[SWITCH_ESPFIX] == ESPFIX_ON ? ANY_TIME_ESPFIX : 0);
}

void speculation_restore(void)
{
	any_time_steps = 0;
	if (control.has)
		write_control(control.found);
}

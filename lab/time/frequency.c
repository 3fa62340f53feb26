/* How fast the TSC runs: what the plan says, or the hypervisor, the processor, a timer; estimate.c chooses. */
#include "lab.h"
#include "cpu/cpu.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/timers.h"

#define LEAF_TSC	     0x15
#define LEAF_FREQUENCY	     0x16	/* eax 15:0: the base frequency, MHz */
#define LEAF_INTERFACE	     0x40000001 /* of Hyper-V; what follows, too */
#define LEAF_PRIVILEGES	     0x40000003
#define LEAF_VM_TIMING	     0x40000010 /* eax: kHz of the TSC */
#define MSR_HV_TSC_FREQUENCY 0x40000022 /* hertz */
#define LEAF_EXTENDED	     0x80000000
#define LEAF_POWER	     0x80000007
#define EDX_INVARIANT	     (1u << 8)
#define LEAST_HERTZ	     4000000 /* that clock.c can do */

static struct cpuid leaf_tsc(void)
{
	return cpuid(0, 0).eax >= LEAF_TSC ? cpuid(LEAF_TSC, 0) : (struct cpuid){0};
}

static const char *const names[] = {
    [TSC_FROM_NOTHING] = "nothing",
    [TSC_FROM_PLAN] = "the plan",
    [TSC_FROM_HYPERVISOR] = "the hypervisor",
    [TSC_FROM_CRYSTAL] = "CPUID 15h",
    [TSC_FROM_PM_TIMER] = "the ACPI timer",
    [TSC_FROM_PIT] = "the PC's timer",
    [TSC_FROM_BASE] = "CPUID 16h",
    [TSC_FROM_MODEL] = "CPUID 15h and the model's crystal",
};

static struct bounds from_crystal(uint64_t crystal)
{
	const struct cpuid ratio = leaf_tsc();

	return exactly(ratio.eax ? crystal * ratio.ebx / ratio.eax : 0);
}

/* Where leaf 0x15 leaves the crystal out. */
static uint64_t crystal_of_model(void)
{
	return cpu.vendor == VENDOR_INTEL && !leaf_tsc().ecx ? estimate_crystal(cpuid(1, 0).eax) : 0;
}

static struct bounds from_base(void)
{
	const uint32_t mhz = cpuid(0, 0).eax >= LEAF_FREQUENCY ? cpuid(LEAF_FREQUENCY, 0).eax & 0xffff : 0;

	return exactly(mhz * 1000000ull);
}

static struct bounds from_hypervisor(void)
{
	const struct cpuid first = hypervisor_leaf(LEAF_HYPERVISOR);
	const struct hypervisor who = {.last = first.eax,
				       .name = {first.ebx, first.ecx, first.edx},
				       .interface = hypervisor_leaf(LEAF_INTERFACE).eax,
				       .privileges = hypervisor_leaf(LEAF_PRIVILEGES).eax};
	uint64_t hertz = 0;

	switch (estimate_told(&who)) {
	case TOLD_BY_LEAF:
		hertz = hypervisor_leaf(LEAF_VM_TIMING).eax * 1000ull;
		break;
	case TOLD_BY_REGISTER:
		if (!rdmsr_safe(MSR_HV_TSC_FREQUENCY, &hertz))
			hertz = 0;
		break;
	default:
		break;
	}
	return exactly(hertz);
}

int tsc_is_invariant(void)
{
	return cpuid(LEAF_EXTENDED, 0).eax >= LEAF_POWER && (cpuid(LEAF_POWER, 0).edx & EDX_INVARIANT) != 0;
}

static void say(const struct tsc *tsc)
{
	if (!tsc->hertz)
		log_line("the TSC's frequency is unknown: CPUID does not tell it, and no timer answers");
	if (tsc->other_hertz)
		log_line("the TSC runs at %" U64 " kHz by %s, but at %" U64 " kHz by %s", tsc->hertz / 1000,
			 names[tsc->source], tsc->other_hertz / 1000, names[tsc->other]);
	if (!tsc_is_invariant())
		log_line("the processor does not promise that the TSC's frequency is constant");
}

/* What the plan says is not measured again: that takes a tenth of a second. */
struct tsc find_tsc_frequency(uint64_t told, uint16_t pm_timer)
{
	const struct answer answers[] = {
	    {TSC_FROM_PLAN, exactly(told)},
	    {TSC_FROM_HYPERVISOR, from_hypervisor()},
	    {TSC_FROM_CRYSTAL, from_crystal(leaf_tsc().ecx)},
	    {TSC_FROM_PM_TIMER, told ? exactly(0) : tsc_by_pm_timer(pm_timer)},
	    {TSC_FROM_PIT, told ? exactly(0) : tsc_by_pit()},
	    {TSC_FROM_MODEL, from_crystal(crystal_of_model())},
	    {TSC_FROM_BASE, from_base()},
	};
	struct tsc tsc = estimate_choose(answers, sizeof(answers) / sizeof(answers[0]));

	if (tsc.hertz < LEAST_HERTZ)
		tsc = (struct tsc){0};
	if (!told)
		say(&tsc);
	return tsc;
}

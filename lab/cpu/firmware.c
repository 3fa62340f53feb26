/*
 * What firmware may have set of the processor and this kernel does not want: it is cleared before CPUID is asked for anything
 * but the vendor, and UEFI gets it back. A register that the processor lacks, or a hypervisor refuses, is left alone.
 */
#include "cpu/cpu.h"

#define MISC_ENABLE_LIMIT_CPUID                                                                              \
	(1ull << 22) /* CPUID ends with leaf 2 or 3, for Windows NT: no AVX, SMEP, SMAP, counters */
#define MISC_ENABLE_NO_NX (1ull << 34) /* and CPUID then denies it */

/* On AMD's families 0Fh and 10h: hlt on all cores becomes C1E, in which the APIC's timer stands still (BKDG for 10h, 31116). */
#define MSR_INTERRUPT_PENDING 0xc0010055
#define SMI_ON_HALT	      (1ull << 27)
#define C1E_ON_HALT	      (1ull << 28)
#define FIRST_C1E	      0x0f
#define LAST_C1E	      0x10

#define MSR_DEBUGCTL 0x1d9

static struct setting {
	uint32_t msr, vendors; /* bit per VENDOR_* */
	unsigned first_family, last_family;
	uint64_t clear;
	int stays; /* UEFI does not get it back */
	uint64_t found;
} settings[] = {
    /* SDM vol. 4, table 2-2. */
    {.msr = MSR_MISC_ENABLE,
     .vendors = 1 << VENDOR_INTEL,
     .last_family = UINT32_MAX,
     .clear = MISC_ENABLE_LIMIT_CPUID},
    /* The kernel's page tables, which remain below UEFI's feet, have the bit that is reserved without NX. */
    {.msr = MSR_MISC_ENABLE,
     .vendors = 1 << VENDOR_INTEL,
     .last_family = UINT32_MAX,
     .clear = MISC_ENABLE_NO_NX,
     .stays = 1},
    /* A trap at branches instead of instructions, records of branches (SDM vol. 3, 18.4.1; APM vol. 2, 13.1.1.6). */
    {.msr = MSR_DEBUGCTL,
     .vendors = 1 << VENDOR_INTEL | 1 << VENDOR_AMD,
     .last_family = UINT32_MAX,
     .clear = UINT64_MAX},
    {.msr = MSR_INTERRUPT_PENDING,
     .vendors = 1 << VENDOR_AMD,
     .first_family = FIRST_C1E,
     .last_family = LAST_C1E,
     .clear = SMI_ON_HALT | C1E_ON_HALT},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static int may_have(const struct setting *setting)
{
	const unsigned family = cpu_family();

	return setting->vendors >> cpu.vendor & 1 && family >= setting->first_family &&
	       family <= setting->last_family;
}

void firmware_undo(void)
{
	uint64_t value;

	for (struct setting *setting = settings; setting < settings + SETTINGS; setting++)
		if (may_have(setting) && rdmsr_safe(setting->msr, &value) && value & setting->clear &&
		    wrmsr_safe(setting->msr, value & ~setting->clear))
			setting->found = value & setting->clear;
}

void firmware_redo(void)
{
	uint64_t value;

	for (const struct setting *setting = settings; setting < settings + SETTINGS; setting++)
		if (setting->found && !setting->stays && rdmsr_safe(setting->msr, &value))
			wrmsr_safe(setting->msr, value | setting->found);
}

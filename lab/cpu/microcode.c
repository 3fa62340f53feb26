/* Which microcode the processor has. */
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "lab.h"

#define MSR_REVISION 0x8b /* IA32_BIOS_SIGN_ID; on AMD the patch level */

/*
 * Intel: the register is cleared, and cpuid with eax = 1 then writes the revision to its upper half (SDM vol. 3, 10.11.7.1).
 * AMD: the lower half has it (APM vol. 2, 3.2.4).
 */
uint64_t microcode_revision(void)
{
	uint64_t value = 0;

	if (cpu.vendor == VENDOR_INTEL && wrmsr_safe(MSR_REVISION, 0)) {
		cpuid(1, 0);
		return rdmsr_safe(MSR_REVISION, &value) ? value >> 32 : 0;
	}
	return cpu.vendor == VENDOR_AMD && rdmsr_safe(MSR_REVISION, &value) ? (uint32_t)value : 0;
}

/*
 * Memory types (SDM vol. 3, 12.12). The page tables use three entries of the page attribute table: 0 for memory, which is
 * write-back, 3 (PWT and PCD) for devices, which are uncached, and 2 (PCD) for screens, which are uncached where no MTRR
 * says write-combining. The processor begins with them so, but firmware may have changed the table.
 */
#include "cpu/cpu.h"
#include "mm/mm.h"

#define LEAF1_EDX_PAT (1u << 16)
#define MSR_PAT	      0x277
#define PAT_AT_RESET  0x0007040600070406ull

static uint64_t firmwares = PAT_AT_RESET;

/*
 * Flushes the caches and the TLB before and after, with the caches off (12.12.4, 12.11.8). Interrupts are off, no other
 * processor runs.
 */
static void write_pat(uint64_t value)
{
	const word cr4 = read_cr4();
	word cr0, cr3;

	if (cr4 & CR4_PGE) /* a change of this bit flushes global translations, which a write of CR3 leaves */
		write_cr4(cr4 & ~(word)CR4_PGE);
	__asm__ volatile("mov %%cr0, %0; mov %%cr3, %1" : "=r"(cr0), "=r"(cr3));
	__asm__ volatile("mov %0, %%cr0; wbinvd; mov %1, %%cr3"
			 :
			 : "r"((cr0 | CR0_CD) & ~(word)CR0_NW), "r"(cr3)
			 : "memory");
	wrmsr(MSR_PAT, value);
	__asm__ volatile("wbinvd; mov %1, %%cr3; mov %0, %%cr0" : : "r"(cr0), "r"(cr3) : "memory");
	if (cr4 & CR4_PGE)
		write_cr4(cr4);
}

void memory_types_init(void)
{
	if (!(cpuid(1, 0).edx & LEAF1_EDX_PAT))
		return;
	firmwares = rdmsr(MSR_PAT);
	if (firmwares != PAT_AT_RESET)
		write_pat(PAT_AT_RESET);
}

void memory_types_restore(void)
{
	if (firmwares != PAT_AT_RESET)
		write_pat(firmwares);
}

/* What processors do otherwise than their manuals say, by model and microcode. It is compiled for tests, too. */
#include "cpu/cpu.h"

/* Of CPUID 1, eax (SDM vol. 2A, CPUID): family and model, with their extensions. */
#define SIGNATURE     0x0fff0ff0u
#define FAMILY_6      0x600u
#define MODEL(number) (((number) >> 4) << 16 | (0xf & (number)) << 4 | FAMILY_6)

/*
 * While CR4.PCIDE is set, INVLPG may leave global translations of its page. Linux does without PCID on these processors
 * (arch/x86/mm/init.c, invlpg_miss_ids; from 6.4 on, and later by microcode, too).
 */
static const struct {
	uint32_t signature;
	uint32_t repaired; /* the first microcode without the fault */
} invlpg_misses[] = {
    {MODEL(0x97u), 0x2e},   /* Alder Lake */
    {MODEL(0x9au), 0x42c},  /* Alder Lake, mobile */
    {MODEL(0xbeu), 0x11},   /* Gracemont: Alder Lake-N */
    {MODEL(0xb7u), 0x118},  /* Raptor Lake */
    {MODEL(0xbau), 0x4117}, /* Raptor Lake, mobile */
    {MODEL(0xbfu), 0x2e},   /* Raptor Lake S */
};

int errata_invlpg_misses_globals(uint32_t signature, uint64_t microcode)
{
	for (unsigned i = 0; i < sizeof(invlpg_misses) / sizeof(invlpg_misses[0]); i++)
		if ((signature & SIGNATURE) == invlpg_misses[i].signature)
			return microcode < invlpg_misses[i].repaired;
	return 0;
}

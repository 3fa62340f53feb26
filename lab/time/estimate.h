/* Judges what several sources say of one frequency. Nothing here touches hardware, so that tests compile estimate.c for the host. */
#pragma once

#include <stdint.h>

/* A frequency, hertz, that lies between the two; high 0: not known. */
struct bounds {
	uint64_t low, high;
};

static inline struct bounds exactly(uint64_t hertz)
{
	return (struct bounds){hertz, hertz};
}

/* What most of several measurements agree on, narrowed by each of them; not known when no more than half agree. */
struct bounds estimate_agreed(const struct bounds *shots, unsigned count);

struct answer {
	uint32_t source; /* TSC_FROM_* */
	struct bounds hertz;
};

struct tsc {
	uint64_t hertz; /* 0: not known */
	uint32_t source;
	uint64_t other_hertz; /* of the first source that contradicts; 0: none does */
	uint32_t other;
};

/* The most trusted answer that is known, and the most trusted of the others that differs from it by more than 1 %. */
struct tsc estimate_choose(const struct answer *answers, unsigned count);

/* What a hypervisor's leaves say of it. */
struct hypervisor {
	uint32_t last;			/* leaf */
	uint32_t name[3];		/* of leaf 40000000h: ebx, ecx, edx */
	uint32_t interface, privileges; /* eax of leaves 40000001h and 40000003h, as Hyper-V defines them */
};

/* Where it tells the TSC's frequency. */
enum told { TOLD_NOWHERE, TOLD_BY_LEAF /* 40000010h */, TOLD_BY_REGISTER /* Hyper-V's */ };
enum told estimate_told(const struct hypervisor *who);

/* Hertz of the crystal of an Intel processor, by its signature (CPUID 1, eax); 0 when its model does not tell. */
uint64_t estimate_crystal(uint32_t signature);

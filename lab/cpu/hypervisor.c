/* What a hypervisor says of itself: CPUID 40000000h and the leaves that follow it, which the processor's manuals leave to it. */
#include "cpu/cpu.h"

#define LEAF1_ECX_GUEST (1u << 31)
#define NAME_TCG	0x54474354 /* "TCGT" of TCGTCGTCGTCG: QEMU's emulator */

int hypervisor_is_there(void)
{
	return (cpuid(1, 0).ecx & LEAF1_ECX_GUEST) != 0;
}

/* The first leaf names the last one; KVM's has named none in the past, and a processor answers a leaf beyond with another's. */
struct cpuid hypervisor_leaf(uint32_t leaf)
{
	if (!hypervisor_is_there())
		return (struct cpuid){0};
	const struct cpuid first = cpuid(LEAF_HYPERVISOR, 0);
	if (leaf == LEAF_HYPERVISOR)
		return first;
	return leaf <= first.eax ? cpuid(leaf, 0) : (struct cpuid){0};
}

int hypervisor_is_tcg(void)
{
	return hypervisor_leaf(LEAF_HYPERVISOR).ebx == NAME_TCG;
}

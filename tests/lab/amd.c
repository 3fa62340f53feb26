/* lab/cpu/amd.c for the host: ebx of CPUID 80000008h and eax of 80000021h. Prints features, automatic IBRS, and whether IBPB is announced. */
#include "cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
	if (count != 3)
		return 1;
	const struct amd_speculation found =
	    amd_speculation((uint32_t)strtoul(words[1], 0, 16), (uint32_t)strtoul(words[2], 0, 16));
	printf("%x %d %d\n", found.features, found.has_automatic_ibrs, found.announces_ibpb);
	return 0;
}

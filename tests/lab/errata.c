/* lab/cpu/errata.c for the host: CPUID 1, eax, and the microcode. Prints 1 if INVLPG may leave global translations. */
#include "cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
	if (count != 3)
		return 1;
	printf("%d\n",
	       errata_invlpg_misses_globals((uint32_t)strtoul(words[1], 0, 10), strtoul(words[2], 0, 10)));
	return 0;
}

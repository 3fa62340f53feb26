/* A driver in ring 1 has what there were segments with limits for: the kernel of protected mode shows it (lab/i386/entry/driver.c). */
#include "entry/rings.h"

int driver_tries(uint64_t results[3])
{
	(void)results;
	return 0;
}

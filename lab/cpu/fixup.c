/* Instructions of the kernel that may fault: where each goes on then. */
#include "cpu/cpu.h"

struct pair {
	uint64_t at, resume;
};
extern const struct pair fixups_start[], fixups_end[];

uint64_t fixup(uint64_t rip)
{
	for (const struct pair *pair = fixups_start; pair < fixups_end; pair++)
		if (pair->at == rip)
			return pair->resume;
	return 0;
}

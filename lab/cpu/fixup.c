/* Instructions of the kernel that may fault: where each goes on then. */
#include "cpu/cpu.h"

struct pair {
	word at, resume;
};
extern const struct pair fixups_start[], fixups_end[];

word fixup(word address)
{
	for (const struct pair *pair = fixups_start; pair < fixups_end; pair++)
		if (pair->at == address)
			return pair->resume;
	return 0;
}

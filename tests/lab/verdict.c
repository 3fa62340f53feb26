/*
 * lab/plan/verdict.c for the host. Standard input: of each boot the words LAB_BOOT_*, in hexadecimal. Prints of each whether ring 0
 * is emulated, and what is trapped.
 */
#include "plan/verdict.h"
#include "lab.h"

#include <stdio.h>

int main(void)
{
	uint64_t boot[LAB_BOOT_WORDS];
	unsigned count = 0;

	while (scanf("%lx", &boot[count]) == 1) {
		if (++count < LAB_BOOT_WORDS)
			continue;
		const struct verdict verdict = verdict_of(boot);
		printf("%d %u\n", verdict.is_emulated, verdict.trapped);
		count = 0;
	}
	return 0;
}

/*
 * lab/time/estimate.c for the host: `agree LOW HIGH ...`, `choose SOURCE LOW HIGH ...`, `crystal SIGNATURE`,
 * `told NAME LAST INTERFACE PRIVILEGES`; prints what comes out.
 */
#include "time/estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

static uint64_t number(const char *text)
{
	return strtoull(text, 0, 10);
}

int main(int count, char **arguments)
{
	struct bounds shots[MOST];
	struct answer answers[MOST];
	unsigned found = 0;

	if (count > 3 && !strcmp(arguments[1], "agree")) {
		for (int i = 2; i + 1 < count && found < MOST; i += 2)
			shots[found++] = (struct bounds){number(arguments[i]), number(arguments[i + 1])};
		const struct bounds agreed = estimate_agreed(shots, found);
		printf("%lu %lu\n", agreed.low, agreed.high);
	} else if (count > 5 && !strcmp(arguments[1], "told")) {
		struct hypervisor who = {.last = (uint32_t)strtoul(arguments[3], 0, 16),
					 .interface = (uint32_t)strtoul(arguments[4], 0, 16),
					 .privileges = (uint32_t)strtoul(arguments[5], 0, 16)};
		strncpy((char *)who.name, arguments[2], sizeof(who.name));
		printf("%d\n", estimate_told(&who));
	} else if (count > 2 && !strcmp(arguments[1], "crystal")) {
		printf("%lu\n", estimate_crystal((uint32_t)strtoul(arguments[2], 0, 16)));
	} else {
		for (int i = 2; i + 2 < count && found < MOST; i += 3)
			answers[found++] =
			    (struct answer){(uint32_t)number(arguments[i]),
					    {number(arguments[i + 1]), number(arguments[i + 2])}};
		const struct tsc tsc = estimate_choose(answers, found);
		printf("%lu %u %lu %u\n", tsc.hertz, tsc.source, tsc.other_hertz, tsc.other);
	}
	return 0;
}

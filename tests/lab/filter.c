/* Shows filter programs as the kernel makes them: of so many instructions; then whether the length is within their arrays. */
#include "entry/steps/filter.h"
#include "entry/steps/steps.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern struct {
	uint16_t code;
	uint8_t if_equal, if_not;
	uint32_t k;
} filter_x86_64[], filter_i386[];

int main(int count, char **words)
{
	const unsigned number = count > 1 ? (unsigned)atoi(words[1]) : 0;

	filter_make(number);
	for (unsigned i = 0; i < 2 * FILTER_MOST; i++)
		printf("%u %u %u %u %u %u %u %u\n", filter_x86_64[i].code, filter_x86_64[i].if_equal,
		       filter_x86_64[i].if_not, filter_x86_64[i].k, filter_i386[i].code,
		       filter_i386[i].if_equal, filter_i386[i].if_not, filter_i386[i].k);
}

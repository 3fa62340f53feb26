/* lab/plan/reading.c for the host: a probe's records as standard input; prints what the image's table would show. */
#include "plan/reading.h"

#include <stdio.h>

static uint8_t bytes[4 << 20];

int main(void)
{
	static struct reading reading;
	const uint64_t outcome = reading_take(&reading, bytes, fread(bytes, 1, sizeof(bytes), stdin));
	const struct figures figures = reading_figures(&reading);

	printf("%lu %u %ld %ld %d %d\n", outcome, reading.samples.count, figures.ticks, figures.cycles,
	       figures.ordered, figures.has_cycles);
	return 0;
}

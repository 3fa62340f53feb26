/*
 * lab/plan/table.c for the host: RING3_TICKS SIGNATURE CR3_TICKS SIGNS SMIS... A probe's records as standard input are what each run writes; a run
 * has so many system management interrupts. Prints two rows of one configuration and one of another. The processor has every
 * counter, unless SIGNATURE is 0.
 */
#include "cpu/counters.h"
#include "entry/entry.h"
#include "plan/table.h"

#include <stdio.h>
#include <stdlib.h>

#define ENTRY	  "1" /* ids of entries.toml */
#define OPERATION "2"

configuration configured;
static uint8_t bytes[4 << 20];
static uint64_t byte_count;
static char **smis;
static uint64_t values[COUNTER_COUNT] = {
    [COUNTER_CYCLES] = 3000000, [COUNTER_REFERENCE] = 2000000, [COUNTER_SPEC_CTRL] = 0x401};

void console_line(const char *text, uint32_t count, unsigned level)
{
	printf("%u %.*s\n", level, (int)count, text);
}

int counters_value(unsigned counter, uint64_t *value)
{
	*value = values[counter];
	return values[COUNTER_CYCLES] != 0;
}

static struct end run(const struct start *start)
{
	(void)start;
	values[COUNTER_SMI] = *smis ? strtoull(*smis++, 0, 10) : 0;
	table_collect(bytes, byte_count);
	return (struct end){LAB_END_EXITED, {0}};
}

int main(int count, char **arguments)
{
	const char *const request[] = {"probe64", "1", ENTRY, OPERATION};
	const struct start start = {.arguments = request, .argument_count = 4};
	uint64_t boot[LAB_BOOT_WORDS] = {[LAB_BOOT_RING0_TICKS] = 80005,
					 [LAB_BOOT_SYSCALL_WORKS] = 1,
					 [LAB_BOOT_INTERRUPT_TICKS] = 500 * RING_TIMES};

	if (count < 5)
		return 1;
	boot[LAB_BOOT_RING3_TICKS] = strtoull(arguments[1], 0, 10);
	boot[LAB_BOOT_SIGNATURE] = strtoull(arguments[2], 0, 16);
	boot[LAB_BOOT_CR3_TICKS] = strtoull(arguments[3], 0, 10);
	boot[LAB_BOOT_SIGNS] = strtoull(arguments[4], 0, 16);
	smis = arguments + 5;
	byte_count = fread(bytes, 1, sizeof(bytes), stdin);
	if (!boot[LAB_BOOT_SIGNATURE])
		values[COUNTER_CYCLES] = 0;
	table_begin(boot);
	table_run(&start, run);
	table_run(&start, run);
	configured[SWITCH_PTI] = PTI_ON;
	table_run(&start, run);
	return 0;
}

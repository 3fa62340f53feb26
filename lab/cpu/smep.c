/* Tries whether the processor keeps the kernel from executing a program's memory; for the plan's line `check smep`. */
#include "cpu/cpu.h"
#include "mm/mm.h"

long smep_call(uint64_t code);

/* endbr64, for a kernel with indirect branch tracking; ret */
static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};

int smep_refuses(void)
{
	const unsigned all = PROTECT_READ | PROTECT_WRITE | PROTECT_EXECUTE;

	if (programs_have_blocks())
		return 0;
	const int is_there = !space_new(WORD_BITS, end_of_programs(WORD_BITS)) &&
			     !space_add(SMEP_CODE, PAGE, all, (struct source){0}) &&
			     !user_write(SMEP_CODE, code, sizeof(code));
	const int is_refused = is_there && smep_call(SMEP_CODE);
	space_enter(&kernel_space);
	space_end_all();
	return is_refused;
}

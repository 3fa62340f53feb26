/* Tries whether the processor keeps the kernel from executing a program's memory; for the plan's line `check smep`. */
#include "cpu/cpu.h"
#include "mm/mm.h"

long smep_call(uint64_t code);

#define RET 0xc3

int smep_refuses(void)
{
	static const uint8_t code = RET;
	const unsigned all = PROTECT_READ | PROTECT_WRITE | PROTECT_EXECUTE;

	space_new(64, USER_END_64);
	const int is_there = !space_add(SMEP_CODE, PAGE, all, (struct source){0}) &&
			     !user_write(SMEP_CODE, &code, sizeof(code));
	const int is_refused = is_there && smep_call(SMEP_CODE);
	space_enter(&kernel_space);
	space_end_all();
	return is_refused;
}

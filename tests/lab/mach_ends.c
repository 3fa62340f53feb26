/* What ends a program: numbers that are no traps, stacks that are none. */
#include "mach.h"

long bad_stack(long number, uintptr_t stack);
void leave(long status);

void run(int count, char **words)
{
	(void)count;
	switch (words[0][0] == '1' ? words[0][2] : words[0][0]) {
	case '0':
		trap_130();
		break;
	case '1':
		trap_131();
		break;
	case 's':
		bad_stack(-25, 0x123);
		break;
	case 'f':
		bad_stack(-25, CHOOSE(0xfffffff0, (uintptr_t)0xffffffff80100000));
		break;
	default:
		leave(-(long)(int32_t)trap_31());
	}
	leave(1);
}

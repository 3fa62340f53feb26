/*
 * What a program may have left in its flags, and C code relies on: the direction flag is clear. syscall clears it by FMASK, and
 * a task has flags of its own.
 */
#include "entry/path.inc"

ATTACH IN_EARLY, 20
STEP "clear the direction flag", ENTERED_BY, NOT(BY_SYSCALL)&NOT(BY_TASK)
	cld
END_ATTACH

	.section .note.GNU-stack, "", @progbits

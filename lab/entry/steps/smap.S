/*
 * smap=on: a program may have set AC itself, with which SMAP would not protect. syscall clears AC by FMASK, and a task has flags of its own. The other half is
 * around each access to a program's memory (user.S, instruction.inc).
 */
#include "entry/path.inc"

ATTACH IN_EARLY, 30
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON), ENTERED_BY, NOT(BY_SYSCALL)&NOT(BY_TASK)
	clac
END_ATTACH

	.section .note.GNU-stack, "", @progbits

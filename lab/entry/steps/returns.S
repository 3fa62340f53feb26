/*
 * returns=untrain: on the way in, before the kernel's first return, what is predicted of returns is thrown away (entry/returns.S). Every
 * entry pays, exceptions of the kernel included: they may have come before their entry has done so. Linux: UNTRAIN_RET,
 * arch/x86/include/asm/nospec-branch.h. The jumps that the returns themselves become are no step (entry/returns.c).
 */
#include "entry/path.inc"

ATTACH IN_KERNEL, 62
STEP "untrain returns", SWITCH_RETURNS, IS(RETURNS_UNTRAIN)
	EXECUTES 1+5	# but on Zen 3 and 4: a jump, test, lfence, a jump, a return
	CALL_C	untrain_returns
END_ATTACH

	.section .note.GNU-stack, "", @progbits

/*
 * entry-ibpb=on: a barrier on the way in, before the first return, so that nothing that a program has trained steers the kernel. Every entry pays, exceptions of the kernel included: they may have come before their entry has done so. Nothing is
 * left to undo on the way out, for PRED_CMD can only be written. Linux: entry_ibpb, called by UNTRAIN_RET (arch/x86/include/asm/nospec-branch.h).
 *
 * IBPB loses rax, rcx and rdx. Those of an exception are saved before IN_KERNEL (exception.S); on the other paths they are the program's, and
 * there is a stack.
 */
#include "entry/path.inc"
#include "entry/speculation.inc"

ATTACH IN_KERNEL, 61
STEP "IBPB on entry", SWITCH_ENTRY_IBPB, IS(ENTRY_IBPB_ON), ENTERED_BY, NOT(BY_EXCEPTION)
	push	%rax
	push	%rcx
	push	%rdx
	IBPB
	pop	%rdx
	pop	%rcx
	pop	%rax
STEP "IBPB on entry", SWITCH_ENTRY_IBPB, IS(ENTRY_IBPB_ON), ENTERED_BY, IS(BY_EXCEPTION)
	IBPB
END_ATTACH

	.section .note.GNU-stack, "", @progbits

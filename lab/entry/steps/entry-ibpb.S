/*
 * entry-ibpb=on: a barrier on the way in, before the first return, so that no path and no function of the kernel is steered by what a
 * program has trained. Every entry pays, exceptions of the kernel included: they may have come before their entry has done so. Nothing is
 * left to undo on the way out, for PRED_CMD can only be written. Linux: entry_ibpb, called by UNTRAIN_RET (arch/x86/include/asm/nospec-branch.h).
 *
 * AMD's processors before Zen 4 keep the return stack (CPUID 80000008h, EBX bit 30 is clear). Linux fills it there behind the barrier,
 * since 6.12; here it stays as it is. Exceptions come here by an indirect jump of their stubs (exception.S), which is not protected.
 *
 * IBPB loses rax, rcx and rdx. Those of an exception are saved before IN_KERNEL (exception.S); on the other paths they are the program's, and
 * there is a stack.
 */
#include "entry/path.inc"
#include "entry/speculation.inc"

ATTACH IN_KERNEL, 61
STEP "IBPB on entry", SWITCH_ENTRY_IBPB, IS(ENTRY_IBPB_ON), ENTERED_BY, NOT(BY_EXCEPTION)
	push	%AX
	push	%CX
	push	%DX
	IBPB
	pop	%DX
	pop	%CX
	pop	%AX
STEP "IBPB on entry", SWITCH_ENTRY_IBPB, IS(ENTRY_IBPB_ON), ENTERED_BY, IS(BY_EXCEPTION)
	IBPB
END_ATTACH

	.section .note.GNU-stack, "", @progbits

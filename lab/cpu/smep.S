/*
 * long smep_call(uint64_t code)
 * Calls code of a program in ring 0, which is at SMEP_CODE. In: rdi. Out: rax, 1 when that was a page fault, as CR4.SMEP makes it
 * (SDM vol. 3, 4.6); 0 when the code was executed, and returned. Lost: rdx.
 */
#include "cpu/registers.h"

	.text
	.globl	smep_call
smep_call:
	call	*%rdi
	xor	%eax, %eax
	ret
1:	pop	%rdx			# where the code was to return to
	mov	$1, %eax
	ret

	/* The fault is at the code, not at the call (fixup.c). Only ring 0 looks for it here. */
	.pushsection .fixups, "a"
	.quad	SMEP_CODE, 1b
	.popsection

	.section .note.GNU-stack, "", @progbits

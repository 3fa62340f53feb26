/*
 * long smep_call(word code)
 * Calls code of a program in ring 0, which is at SMEP_CODE. Out: eax, 1 when that was a page fault, as CR4.SMEP makes it
 * (SDM vol. 3, 4.6); 0 when the code was executed, and returned. Lost: edx.
 */
#include "cpu/registers.h"

	.text
	.globl	smep_call
smep_call:
	call	*4(%esp)
	xor	%eax, %eax
	ret
1:	pop	%edx			# where the code was to return to
	mov	$1, %eax
	ret

	/* The fault is at the code, not at the call (fixup.c). Only ring 0 looks for it here. */
	.pushsection .fixups, "a"
	.long	SMEP_CODE, 1b
	.popsection

	.section .note.GNU-stack, "", @progbits

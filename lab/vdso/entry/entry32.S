/* As entry64.S, 32-bit code. */
#include "vdso/entry/enter32.inc"

	.text
	.globl	entry_call
	.type	entry_call, @function
entry_call:
	.cfi_startproc
	ENTER
	.cfi_endproc
	.size	entry_call, . - entry_call

	.section .note.GNU-stack, "", @progbits

/* As entry64.S, 32-bit code. */
#include "vdso/entry/enter32.inc"

	.text
	.globl	entry_call
	.type	entry_call, @function
entry_call:
	.cfi_startproc
	endbr32		# stubs come here by an indirect jump (SDM vol. 1, 17.3)
	ENTER
	.cfi_endproc
	.size	entry_call, . - entry_call

	.section .note.GNU-stack, "", @progbits

/*
 * entry_call of the device `entry`, 64-bit code: the variant ENTER (crates/places/build/lab.rs), one in each image. A stub loads the
 * number of its trap and jumps here, so that one return address is on the stack, as behind a stub that enters by itself.
 */
#include "vdso/entry/enter64.inc"

	.text
	.globl	entry_call
	.type	entry_call, @function
entry_call:
	.cfi_startproc
	endbr64		# stubs come here by an indirect jump (SDM vol. 1, 17.3)
	ENTER
	.cfi_endproc
	.size	entry_call, . - entry_call

	.section .note.GNU-stack, "", @progbits

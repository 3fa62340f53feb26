/* The stubs of one variant: VARIANT is the file that says how they go on behind the number (Makefile). */
#include VARIANT

.macro FUNCTION name, number
	.balign	64	# so that variants are compared, and not places in a cache line
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	mov	$-\number, %eax
	TRAP
	.cfi_endproc
	.size	\name, . - \name
.endm

	.text
#define STUB(name, number) FUNCTION name, number;
#include "traps.def"

	.section .note.GNU-stack, "", @progbits

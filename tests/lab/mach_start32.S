/* begin(stack), of a 32-bit program. */
	.text
	.globl	_start
_start:	mov	%esp, %eax
	and	$-16, %esp
	sub	$12, %esp
	push	%eax
	call	begin

	.section .note.GNU-stack, "", @progbits

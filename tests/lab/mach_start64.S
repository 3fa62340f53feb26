/* begin(stack), of a 64-bit program. */
	.text
	.globl	_start
_start:	mov	%rsp, %rdi
	and	$-16, %rsp
	call	begin

	.section .note.GNU-stack, "", @progbits

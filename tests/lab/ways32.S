/* As ways64.S, in 32-bit code. */
#include "entries32.inc"

.irp name, ENTRIES
	.globl	way_\name
way_\name:
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	mov	20(%esp), %eax
	mov	24(%esp), %ebp
	mov	(%ebp), %ebx
	mov	4(%ebp), %ecx
	mov	8(%ebp), %edx
	mov	12(%ebp), %esi
	mov	16(%ebp), %edi
	mov	20(%ebp), %ebp
	PREPARE_\name
	ENTER_\name
9:	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret
.endr

	.globl	_start
_start:	mov	%esp, %eax
	and	$-16, %esp
	sub	$12, %esp
	push	%eax
	call	begin

	.bss
	.balign	4
	.globl	gateway
gateway:
	.skip	4

	.section .note.GNU-stack, "", @progbits

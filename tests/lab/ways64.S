/*
 * long way_<entry>(long number, const long arguments[6])
 * A call through an entry, with the arguments where its ABI has them. Those of i386 numbers are the lower halves of registers
 * in whose upper halves is something else.
 */
#include "entries64.inc"

.macro BEGIN name
	.globl	way_\name
way_\name:
	push	%rbx
	push	%rbp
	mov	%rdi, %rax
	mov	%rsi, %rbx
.endm

.macro END
	pop	%rbp
	pop	%rbx
	ret
.endm

.irp name, NATIVE_ENTRIES
BEGIN \name
	mov	(%rbx), %rdi
	mov	8(%rbx), %rsi
	mov	16(%rbx), %rdx
	mov	24(%rbx), %r10
	mov	32(%rbx), %r8
	mov	40(%rbx), %r9
	PREPARE_\name
	ENTER_\name
9:
	END
.endr

.irp name, I386_ENTRIES
BEGIN \name
	mov	8(%rbx), %ecx
	mov	16(%rbx), %edx
	mov	24(%rbx), %esi
	mov	32(%rbx), %edi
	mov	40(%rbx), %ebp
	mov	(%rbx), %ebx
	movabs	$0x5a5a5a5a00000000, %r8
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp
	or	%r8, %\register
	.endr
	ENTER_\name
	END
.endr

	.globl	_start
_start:	mov	%rsp, %rdi
	and	$-16, %rsp
	call	begin

	.section .note.GNU-stack, "", @progbits

/*
 * long way_<entry>(long number, const long arguments[6])
 * A call through an entry, with the arguments where its ABI has them; those of i386 numbers are cut to 32 bits.
 */
#define GATE_X86_64 0x53
#define GATE_I386   0x63
#define NR_GETPPID	0
#define NR_UNAME	0
#define NR32_GETPPID	0
#define NR32_UNAME	0
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

.irp name, syscall, sysenter, call_gate, ud, lock_nop, int3, div0
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

.irp name, int80, call_gate_i386
BEGIN \name
	mov	8(%rbx), %ecx
	mov	16(%rbx), %edx
	mov	24(%rbx), %esi
	mov	32(%rbx), %edi
	mov	40(%rbx), %ebp
	mov	(%rbx), %ebx
	ENTER_\name
	END
.endr

	.globl	_start
_start:	mov	%rsp, %rdi
	and	$-16, %rsp
	call	begin

	.section .note.GNU-stack, "", @progbits

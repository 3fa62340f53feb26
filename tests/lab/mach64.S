/*
 * Traps of GNU Mach from 64-bit code, through every entry: arguments are where `syscall` has them, and behind the stub's return address,
 * also through entries whose calls of Linux have i386's numbers. The order of the ways is that of mach.rs.
 */
#include "entries64.inc"
#include "mach.inc"

	.text
.irp name, ENTRIES
mach_way_\name:
	mov	%rcx, %r10
	PREPARE_\name
	ENTER_\name
9:	ret
.endr

	.section .rodata
	.balign	8
	.globl	ways, way_count
ways:
.irp name, ENTRIES
	.quad	mach_way_\name
.endr
way_count:
	.long	(. - ways) / 8

	.data
	.balign	8
	.globl	way
way:	.quad	mach_way_syscall

	.text
	.globl	_start
_start:	mov	%rsp, %rdi
	and	$-16, %rsp
	call	begin

#define MARKED rbx, rbp, rdi, rsi, rdx, r8, r9, r12, r13, r14, r15

/* long registers_changed(long number): of those that a trap keeps, how many it has not kept. rcx, r10, r11 are the entry's. */
	.globl	registers_changed
registers_changed:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rdi, %rax
	.set	mark, 0x1111111111111111
	.irp	register, MARKED
	movabs	$mark, %\register
	.set	mark, mark + 0x1111
	.endr
	call	*way
	xor	%eax, %eax
	.set	mark, 0x1111111111111111
	.irp	register, MARKED
	movabs	$mark, %rcx
	cmp	%rcx, %\register
	je	1f
	inc	%eax
1:
	.set	mark, mark + 0x1111
	.endr
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

/* A trap with such a stack pointer; Linux's exit. */
	.globl	bad_stack, leave
bad_stack:
	mov	%rdi, %rax
	mov	%rsi, %rsp
	jmp	*way
leave:	mov	$60, %eax
	syscall

/* long linux_call(long number, long first, long second, long third) */
	.globl	linux_call
linux_call:
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	%rcx, %rdx
	syscall
	ret

/*
 * Traps of GNU Mach from 32-bit code, through every entry: arguments are on the stack, behind the stub's return address. After sysenter and
 * syscall the landing pad of the vDSO goes on, which pops three words and returns to where the stub would. The order is that of mach.rs.
 */
#include "entries32.inc"
#include "lab.h"
#include "mach.inc"

/* The last three are protected mode's: a gate that copies a word, and tasks. */
#define WAYS lcall7, int80, sysenter, syscall, call_gate, ud, lock_nop, int3, div0, gate_32_1, task_int, task_call

	.text
.irp name, lcall7, int80, call_gate, ud, lock_nop, int3, task_int, task_call
mach_way_\name:
	ENTER_\name
	ret
.endr

mach_way_sysenter:
	push	%ecx
	push	%edx
	push	%ebp
	mov	%esp, %ebp
	sysenter

mach_way_syscall:
	push	%ecx
	push	%edx
	push	%ebp
	mov	%ecx, %ebp
	syscall

mach_way_gate_32_1:
	push	$0			# the gate's return drops it
	lcall	$SELECTOR_GATE_32_1, $0
	ret

mach_way_div0:
	xor	%ecx, %ecx
	div	%ecx
	ret

	.section .rodata
	.balign	4
	.globl	ways, way_count
ways:
.irp name, WAYS
	.long	mach_way_\name
.endr
way_count:
	.long	(. - ways) / 4

	.data
	.balign	4
	.globl	way, gateway
way:	.long	mach_way_lcall7
gateway:
	.long	0

	.text
	.globl	_start
_start:	mov	%esp, %eax
	and	$-16, %esp
	sub	$12, %esp
	push	%eax
	call	begin

#define MARKED ebx, edx, esi, edi, ebp

/* long registers_changed(long number): of those that a trap keeps, how many it has not kept. ecx is div0's. */
	.globl	registers_changed
registers_changed:
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	mov	20(%esp), %eax
	.set	mark, 0x11111111
	.irp	register, MARKED
	mov	$mark, %\register
	.set	mark, mark + 0x1111
	.endr
	cmpl	$mach_way_div0, way
	jne	1f
	xor	%edx, %edx		# it is half of what is divided
1:	call	*way
	mov	%edx, %ecx
	cmpl	$mach_way_div0, way
	jne	1f
	mov	$0x11112222, %edx
1:	xor	%eax, %eax
	.set	mark, 0x11111111
	.irp	register, MARKED
	cmp	$mark, %\register
	je	1f
	inc	%eax
1:
	.set	mark, mark + 0x1111
	.endr
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret

/* A trap with such a stack pointer; Linux's exit. */
	.globl	bad_stack, leave
bad_stack:
	mov	4(%esp), %eax
	mov	8(%esp), %esp
	jmp	*way
leave:	mov	4(%esp), %ebx
	mov	$1, %eax
	int	$0x80

/* long linux_call(long number, long first, long second, long third) */
	.globl	linux_call
linux_call:
	push	%ebx
	mov	8(%esp), %eax
	mov	12(%esp), %ebx
	mov	16(%esp), %ecx
	mov	20(%esp), %edx
	int	$0x80
	pop	%ebx
	ret

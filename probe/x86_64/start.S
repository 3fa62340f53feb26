#include "linux.h"

/* The kernel starts us here with argc, argv, envp and the auxiliary vector on the stack (System V ABI, 3.4.1). */
	.text
	.globl _start
_start:
	xor	%ebp, %ebp
	mov	%rsp, %rdi
	and	$-16, %rsp
	call	probe_main
	ud2			# probe_main does not return

/*
 * The target of the row `call`. Not a lone ret: one in the first bytes after a call's target costs four cycles more on a
 * Sapphire Rapids (8.1 instead of 4.0), and then functions that do something are cheaper than the floor.
 */
	.balign 64
	.globl empty_function
empty_function:
	.rept 6
	nop
	.endr
	ret

/*
 * What the row calls, and what that must answer in rax. Whoever times a path of the lab's kernel in ring 3 writes both into the probe's file
 * (crates/places/src/ring3).
 */
	.data
	.balign 8
	.globl call_target, call_answer
call_target:
	.quad	empty_function
call_answer:
	.quad	0			# nothing
	.text

/*
 * void stepped_call(void *function)
 * Calls it with the trap flag set, so that a SIGTRAP follows every instruction executed in ring 3.
 */
	.globl stepped_call
stepped_call:
	push	%rbx
	mov	%rdi, %rbx
	xor	%edi, %edi
	xor	%esi, %esi
	pushf
	orl	$RFLAGS_TF, (%rsp)
	popf
	call	*%rbx
	pushf
	andl	$~RFLAGS_TF, (%rsp)
	popf
	pop	%rbx
	ret

/* long mach_trap(long number, const unsigned long arguments[11]): those behind the sixth lie behind a return address (LOAD_TRAP). */
	.globl mach_trap
mach_trap:
	push	%rbx
	mov	%rdi, %rax
	mov	%rsi, %rbx
	.irp	at, 80, 72, 64, 56, 48
	push	\at(%rbx)
	.endr
	push	$0
	mov	(%rbx), %rdi
	mov	8(%rbx), %rsi
	mov	16(%rbx), %rdx
	mov	24(%rbx), %r10
	mov	32(%rbx), %r8
	mov	40(%rbx), %r9
	syscall
	add	$48, %rsp
	pop	%rbx
	ret

/* void signal_return(void): what a handler returns to (rt_sigaction's SA_RESTORER). */
	.globl signal_return
signal_return:
	mov	$15, %eax	# rt_sigreturn
	syscall

	.section .note.GNU-stack, "", @progbits

/*
 * void thread_switch(struct thread *from, struct thread *to)
 * In: rdi, rsi. Interrupts are off. Lost: rax. Returns on the other thread's stack, where that one called this, or begins it.
 *
 * What C keeps goes over the stack: rbx, rbp, r12 to r15, and the flags: of an entry that leaves them alone, AC and NT are the
 * program's. What belongs to a thread besides is in thread.c.
 *
 * SS is loaded anew. A gate or an exception from ring 3 leaves it null (SDM vol. 3, 6.14.2), which 64-bit code does not notice;
 * but AMD's sysret changes its selector alone (APM vol. 3, SYSRET), so that a program that has entered by syscall would go on
 * with the null descriptor of another's gate.
 */
#include "cpu/registers.h"
#include "entry/layout.h"
#include "entry/returns.h"

	.text
	.globl	thread_switch, thread_begin
	.type	thread_switch, @function
thread_switch:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	pushf
	mov	%rsp, THREAD_STACK(%rdi)
	mov	THREAD_STACK(%rsi), %rsp
	mov	$SELECTOR_KERNEL_DATA, %eax
	mov	%eax, %ss
	popf
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	RETURN
	.size	thread_switch, . - thread_switch

/* Where thread_switch returns to in a new thread; thread_new has put the address of its frame to rbx. */
thread_begin:
	mov	%rbx, %rdi
	jmp	*path_enter_user

	.section .note.GNU-stack, "", @progbits

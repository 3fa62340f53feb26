/*
 * void thread_switch(struct thread *from, struct thread *to)
 * Interrupts are off. Lost: eax, ecx, edx. Returns on the other thread's stack, where that one called this, or begins it.
 *
 * What C keeps goes over the stack: ebx, ebp, esi, edi, and the flags: of an entry that leaves them alone, AC and NT are the
 * program's. What belongs to a thread besides is in thread.c.
 */
#include "entry/layout.h"
#include "entry/returns.h"

	.text
	.globl	thread_switch, thread_begin
	.type	thread_switch, @function
thread_switch:
	mov	4(%esp), %eax
	mov	8(%esp), %edx
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	pushf
	mov	%esp, THREAD_STACK(%eax)
	mov	THREAD_STACK(%edx), %esp
	popf
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
	RETURN
	.size	thread_switch, . - thread_switch

/* Where thread_switch returns to in a new thread; thread_new has put the address of its frame to ebx. */
thread_begin:
	jmp	*path_enter_user

	.section .note.GNU-stack, "", @progbits

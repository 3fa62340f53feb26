/*
 * Does ring 0 run natively? The same loop in both rings tells; and a system call must work at all, which it does not in
 * some virtual machines that emulate ring 0.
 */
#include "lab.h"

#define TURNS	    20000
#define NR_GETPPID  110

/* Ticks that the loop takes, to rax. */
.macro LOOP
	lfence
	rdtsc
	mov	%eax, %esi
	mov	%edx, %edi
	mov	$TURNS, %ecx
1:	imul	%ecx, %eax		# two dependent ones: six cycles, in a loop of four instructions
	imul	%ecx, %eax
	dec	%ecx
	jnz	1b
	lfence
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	shl	$32, %rdi
	or	%rdi, %rsi
	sub	%rsi, %rax
.endm

	.text
	.globl	ring_loop_here
ring_loop_here:
	LOOP
	ret

	.section .rodata.ring, "a"
	.globl	ring_loop, ring_loop_end, ring_call, ring_call_end
ring_loop:
	LOOP
	ud2
ring_loop_end:

ring_call:
	mov	$NR_GETPPID, %eax
	syscall
	ud2
ring_call_end:

	.section .note.GNU-stack, "", @progbits

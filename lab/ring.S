/*
 * Tests whether ring 0 runs natively: the same loop runs in both rings, and a system call must work. It does not work in
 * some virtual machines that emulate ring 0.
 */
#include "lab.h"

#define TURNS		20000
#define NR_GETPPID	110
#define NR_GETPPID_I386 64

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

/* What the calls answer, to rbx and rax. The iretq of the second loads SS and CS as the sysretq of the first has left them. */
ring_call:
	mov	$NR_GETPPID, %eax
	syscall
	mov	%rax, %rbx
	mov	$NR_GETPPID_I386, %eax
	int	$0x80
	ud2
ring_call_end:

	.section .note.GNU-stack, "", @progbits

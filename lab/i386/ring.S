/* As lab/ring.S, in 32-bit code: the same loop in both rings, whether a system call works, and what a hypervisor may do itself. */
#include "lab.h"

#define NR_GETPPID 64

/* Symbols, since the preprocessor leaves strings alone. */
	.set	NR_NONE, -1		# no call has this number
	.set	VECTOR, 0x80

/* Ticks that the loop takes, to edx:eax. Lost: ecx, esi, edi. */
.macro LOOP
	lfence
	rdtsc
	mov	%eax, %esi
	mov	%edx, %edi
	mov	$RING_TURNS, %ecx
1:	imul	%ecx, %eax		# two dependent ones: six cycles, in a loop of four instructions
	imul	%ecx, %eax
	dec	%ecx
	jnz	1b
	lfence
	rdtsc
	sub	%esi, %eax
	sbb	%edi, %edx
.endm

/* Ticks that RING_TIMES of something take, to edx:eax. Lost: esi, edi, ebp and what it uses. */
.macro TIMES operation
	lfence				# what is to be timed stays on its side
	rdtsc
	mov	%eax, %esi
	mov	%edx, %edi
	mov	$RING_TIMES, %ebp
1:	\operation
	dec	%ebp
	jnz	1b
	lfence
	rdtsc
	sub	%esi, %eax
	sbb	%edi, %edx
.endm

/* uint64_t ring_loop_here(void), ring_cr3_here(void), ring_cpuid_here(void): in ring 0. */
.macro HERE name, what
	.globl	\name
\name:
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	mov	%cr3, %ebx
	.ifnb	\what
	TIMES	"\what"
	.else
	LOOP
	.endif
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
	ret
.endm

	.text
	HERE	ring_loop_here
	HERE	ring_cr3_here, "mov %ebx, %cr3"
	HERE	ring_cpuid_here, "xor %eax, %eax; cpuid"

/* In ring 3. Each ends in an exception: ud2, or hlt where ud2 is a system call. */
	.section .rodata.ring, "a"
	.globl	ring_loop, ring_loop_end, ring_call, ring_call_end
	.globl	ring_interrupt, ring_interrupt_end, ring_invalid, ring_invalid_end
ring_loop:
	LOOP
	ud2
ring_loop_end:

/* What the call answers, to ebx and eax. */
ring_call:
	mov	$NR_GETPPID, %eax
	int	$0x80
	mov	%eax, %ebx
	ud2
ring_call_end:

/* With the paths as short as they can be: the number is refused before anything is saved. */
ring_interrupt:
	TIMES	"mov $NR_NONE, %eax; int $VECTOR"
	hlt
ring_interrupt_end:

ring_invalid:
	TIMES	"mov $NR_NONE, %eax; ud2"
	hlt
ring_invalid_end:

	.section .note.GNU-stack, "", @progbits

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

/* A function in ring 0: `before`, then what is timed, or the loop. Its first argument is at ARGUMENT(%esp). */
	.set	ARGUMENT, 20		# a symbol, since the preprocessor leaves strings alone
.macro HERE name, what, before
	.globl	\name
\name:
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	\before
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

/* uint64_t ring_loop_here(void), ring_cr3_here(void), ring_cpuid_here(void). */
	.text
	HERE	ring_loop_here
	HERE	ring_cr3_here, "mov %ebx, %cr3", "mov %cr3, %ebx"
	HERE	ring_cpuid_here, "xor %eax, %eax; cpuid"

/* What steps of switches are made of: as in lab/ring.S. */
.if RING_TIMES % 2
	.error "an odd number of changes does not end where it began"
.endif
	HERE	ring_cr4_here, "xor %ebx, %ecx; mov %ecx, %cr4", "mov ARGUMENT(%esp), %ebx; mov %cr4, %ecx"
	HERE	ring_invlpg_here, "invlpg (%ebx)", "mov ARGUMENT(%esp), %ebx"
	HERE	ring_invpcid_here, "invpcid (%ebx), %ecx", "mov ARGUMENT(%esp), %ebx; xor %ecx, %ecx"

/* The value is where the caller has put it, changed by each write: rdtsc needs edx and eax. */
.macro WRITE_MSR
	xor	%ebx, ARGUMENT + 4(%esp)
	mov	ARGUMENT + 4(%esp), %eax
	mov	ARGUMENT + 8(%esp), %edx
	wrmsr
.endm
	HERE	ring_msr_here, WRITE_MSR, "mov ARGUMENT(%esp), %ecx; mov ARGUMENT + 12(%esp), %ebx"

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

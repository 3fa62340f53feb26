/*
 * Tests whether ring 0 runs natively: the same loop runs in both rings, a system call must work (it does not in some
 * virtual machines that emulate ring 0), and what a hypervisor may do itself is timed.
 */
#include "lab.h"

#define NR_GETPPID	110
#define NR_GETPPID_I386 64


/* Symbols, since the preprocessor leaves strings alone. */
	.set	NR_NONE, -1		# no call has this number
	.set	VECTOR, 0x80

/* A stamp in rax, which is also in \to. Lost: rdx. */
.macro STAMP to
	lfence				# what is to be timed stays on its side
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, \to
.endm

/* Ticks that the loop takes, to rax. */
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
	shl	$32, %rdx
	or	%rdx, %rax
	shl	$32, %rdi
	or	%rdi, %rsi
	sub	%rsi, %rax
.endm

/* Ticks that RING_TIMES of something take, to rax. Lost: rdx, r8, r9 and what it uses. */
.macro TIMES operation
	STAMP	%r8
	mov	$RING_TIMES, %r9d
1:	\operation
	dec	%r9d
	jnz	1b
	STAMP	%rdx
	sub	%r8, %rax
.endm

/* uint64_t ring_loop_here(void), ring_cr3_here(void), ring_cpuid_here(void): in ring 0. */
	.text
	.globl	ring_loop_here, ring_cr3_here, ring_cpuid_here
ring_loop_here:
	LOOP
	ret

ring_cr3_here:
	mov	%cr3, %rdi
	TIMES	"mov %rdi, %cr3"
	ret

ring_cpuid_here:
	push	%rbx			# cpuid writes it, and C keeps it
	TIMES	"xor %eax, %eax; cpuid"
	pop	%rbx
	ret

/*
 * What steps of switches are made of, in ring 0. RING_TIMES is even: what is changed with each write is in the end what it was.
 *
 * uint64_t ring_cr4_here(unsigned long change): CR4, these bits of it.
 * uint64_t ring_msr_here(uint32_t msr, uint64_t value, uint32_t change): these bits of its lower half; 0: writes the value, as a command.
 * uint64_t ring_invlpg_here(const void *address)
 * uint64_t ring_invpcid_here(const struct invpcid *descriptor): type 0, one page of one identifier.
 */
.if RING_TIMES % 2
	.error "an odd number of changes does not end where it began"
.endif
	.globl	ring_cr4_here, ring_msr_here, ring_invlpg_here, ring_invpcid_here
ring_cr4_here:
	mov	%cr4, %rsi
	TIMES	"xor %rdi, %rsi; mov %rsi, %cr4"
	ret

ring_msr_here:
	mov	%edi, %ecx
	mov	%edx, %edi
	mov	%rsi, %r10
	shr	$32, %r10
	TIMES	"xor %edi, %esi; mov %esi, %eax; mov %r10d, %edx; wrmsr"
	ret

ring_invlpg_here:
	TIMES	"invlpg (%rdi)"
	ret

ring_invpcid_here:
	xor	%esi, %esi
	TIMES	"invpcid (%rdi), %rsi"
	ret

/* In ring 3. Each ends in an exception: ud2, or hlt where ud2 is a system call. */
	.section .rodata.ring, "a"
	.globl	ring_loop, ring_loop_end, ring_call, ring_call_end
	.globl	ring_interrupt, ring_interrupt_end, ring_invalid, ring_invalid_end
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

/* With the paths as short as they can be: the number is refused before anything is saved but eight registers. */
ring_interrupt:
	TIMES	"mov $NR_NONE, %eax; int $VECTOR"
	hlt
ring_interrupt_end:

ring_invalid:
	TIMES	"mov $NR_NONE, %eax; ud2"
	hlt
ring_invalid_end:

	.section .note.GNU-stack, "", @progbits

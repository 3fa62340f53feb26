/*
 * stack-offset: the service's frame begins at a distance from the top of the stack that a program cannot know. As Linux does
 * (include/linux/randomize_kstack.h):
 *
 *	on	each way out draws for the next way in, of the low bits of the TSC, which is mixed into what was drawn before (on x86,
 *		arch/x86/include/asm/entry-common.h until 7.0). No release does exactly this: the low 8 bits alone are of 5.13 to 6.9,
 *		the rotation is of 6.9 and later, the mask (six bits, 64 places of 16 bytes) of 6.11 and later (docs/bill.md).
 *	prandom	each way in draws for itself, of a generator; since 7.1. The mask is the same. No call is in another, and no interrupt
 *		draws, so that nobody else has the generator meanwhile.
 */
#include "entry/path.inc"
#include "entry/steps/prandom.inc"

#define OFFSET_MASK 0x3f0

/* By the number in r11. */
.macro MOVE_STACK
	and	$OFFSET_MASK, %r11d
	sub	%r11, %rsp
	push	%r11
	push	%r11			# the stack stays aligned
.endm

ATTACH IN_SAVED, 90
STEP "stack offset: move the stack", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_ON), NUMBERS, NOT(NUMBERS_NONE)
	mov	stack_offset, %r11d
	MOVE_STACK
STEP "stack offset: draw, and move the stack", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_PRANDOM), NUMBERS, NOT(NUMBERS_NONE)
	push	%rcx
	push	%rdx
	DRAW	%r11d, %ecx, %edx
	pop	%rdx
	pop	%rcx
	MOVE_STACK
END_ATTACH

ATTACH OUT_SAVED, 10
STEP "stack offset: move the stack back", SWITCH_STACK_OFFSET, NOT(STACK_OFFSET_OFF), NUMBERS, NOT(NUMBERS_NONE)
	pop	%rcx
	lea	8(%rsp, %rcx), %rsp
END_ATTACH

ATTACH OUT_SAVED, 70
STEP "stack offset: draw the next", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_ON), NUMBERS, NOT(NUMBERS_NONE)
	mov	%rax, %rcx
	rdtsc
	movzbl	%al, %eax
	mov	stack_offset, %edx
	ror	$5, %edx
	xor	%eax, %edx
	mov	%edx, stack_offset
	mov	%rcx, %rax
END_ATTACH

	.data
	.balign	64
	.globl	stack_offset
stack_offset:
	.quad	0
	.skip	56

	.section .note.GNU-stack, "", @progbits

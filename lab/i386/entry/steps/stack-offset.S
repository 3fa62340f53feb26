/* stack-offset (lab/entry/steps/stack-offset.S). The offset is found before the arguments are pushed, with registers that are kept. */
#include "entry/path.inc"
#include "entry/steps/prandom.inc"

#define OFFSET_MASK 0x3f0

/* By the number in ecx, whose own value has been pushed. */
.macro MOVE_STACK
	and	$OFFSET_MASK, %ecx
	sub	%ecx, %esp
	push	%ecx
	mov	4(%esp, %ecx), %ecx
.endm

ATTACH IN_SAVED, 90
STEP "stack offset: move the stack", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_ON), NUMBERS, NOT(NUMBERS_NONE)
	push	%ecx
	mov	stack_offset, %ecx
	MOVE_STACK
STEP "stack offset: draw, and move the stack", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_PRANDOM), NUMBERS, NOT(NUMBERS_NONE)
	push	%ecx
	push	%eax
	push	%edx
	DRAW	%ecx, %eax, %edx
	pop	%edx
	pop	%eax
	MOVE_STACK
END_ATTACH

ATTACH OUT_SAVED, 10
STEP "stack offset: move the stack back", SWITCH_STACK_OFFSET, NOT(STACK_OFFSET_OFF), NUMBERS, NOT(NUMBERS_NONE)
	pop	%ecx
	lea	4(%esp, %ecx), %esp
END_ATTACH

ATTACH OUT_SAVED, 70
STEP "stack offset: draw the next", SWITCH_STACK_OFFSET, IS(STACK_OFFSET_ON), NUMBERS, NOT(NUMBERS_NONE)
	mov	%eax, %ecx
	rdtsc
	movzbl	%al, %eax
	mov	stack_offset, %edx
	ror	$5, %edx
	xor	%eax, %edx
	mov	%edx, stack_offset
	mov	%ecx, %eax
END_ATTACH

	.data
	.balign	64
	.globl	stack_offset
stack_offset:
	.long	0
	.skip	60

	.section .note.GNU-stack, "", @progbits

/*
 * canary=on: below the service's arguments and its return address lies a word that it cannot know; when it returns, the word must be
 * what it was. Compilers place such a word in each frame that has an array (-fstack-protector); here one lies above the whole service.
 */
#include "entry/path.inc"

ATTACH IN_SAVED, 94
STEP "canary: put it on the stack", SWITCH_CANARY, IS(CANARY_ON), NUMBERS, NOT(NUMBERS_NONE)
	push	canary
	push	canary			# the stack stays aligned
END_ATTACH

ATTACH OUT_SAVED, 05
STEP "canary: is it still there", SWITCH_CANARY, IS(CANARY_ON), NUMBERS, NOT(NUMBERS_NONE)
	pop	%CX
	pop	%DX
	cmp	canary, %CX
	BRANCH	JNE, canary_is_gone	# _Noreturn void canary_is_gone(void)
END_ATTACH

	.data
	.balign	64
	.globl	canary
canary:
	.quad	0
	.skip	56

	.section .note.GNU-stack, "", @progbits

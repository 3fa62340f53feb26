/*
 * work=on: flags of the current thread are tested on the way in and on the way out (lab/entry/steps/work.S). No register is free on the way
 * in: one is kept on the stack.
 */
#include "entry/path.inc"

ATTACH IN_SAVED, 50
STEP "work: is there any on the way in", SWITCH_WORK, IS(WORK_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, NOT(NUMBERS_NONE)
	EXECUTES 5
	push	%ecx
	mov	current, %ecx
	testl	$WORK_CALL_IN, THREAD_CALL_WORK(%ecx)
	pop	%ecx
	jz	1f
	CALL_C	work_on_the_way_in
	mov	FRAME_AX(%esp), %eax
	mov	FRAME_CX(%esp), %ecx
	mov	FRAME_DX(%esp), %edx
1:
END_ATTACH

ATTACH OUT_SAVED, 58
STEP "work: is there any on the way out", SWITCH_WORK, IS(WORK_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, NOT(NUMBERS_NONE)
	EXECUTES 5
	mov	current, %ecx
	testl	$WORK_CALL_OUT, THREAD_CALL_WORK(%ecx)
	jnz	1f
	cmpl	$0, THREAD_WORK(%ecx)
	je	2f
1:	push	%eax
	CALL_C	work_on_the_way_out
	pop	%eax
2:
STEP "work: is there any on the way out to a program", SWITCH_WORK, IS(WORK_ON), ENTERED_BY, IS(BY_EXCEPTION)
	EXECUTES 5
	TEST_RING	FRAME_CS
	jz	1f
	mov	current, %ecx
	cmpl	$0, THREAD_WORK(%ecx)
	je	1f
	CALL_C	work_on_the_way_out
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

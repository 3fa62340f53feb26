/*
 * work=on: flags of the current thread are tested on the way in (as Linux tests SYSCALL_WORK_ENTER in syscall_enter_from_user_mode)
 * and, two words, on the way out (SYSCALL_WORK_EXIT; then EXIT_TO_USER_MODE_WORK, also behind exceptions of programs). Usually no flag
 * is set. A tick sets one: how long the program has run, and its timers, are looked at when it is left (work.c).
 */
#include "entry/path.inc"
#include "entry/steps/reload.inc"

.macro WORK_IN abi, numbers, conditions:vararg
STEP "work: is there any on the way in", SWITCH_WORK, IS(WORK_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(\numbers), \conditions
	EXECUTES 3
	mov	current, %r11
	testl	$WORK_CALL_IN, THREAD_CALL_WORK(%r11)
	jz	1f
	CALL_C	work_on_the_way_in
	RELOAD_\abi
1:
.endm

ATTACH IN_SAVED, 50
WORK_IN X86_64, NUMBERS_X86_64
WORK_IN I386, NUMBERS_I386, SWITCH_PERSONALITY, IS(PERSONALITY_LINUX)
WORK_IN I386_OR_TRAP, NUMBERS_I386, SWITCH_PERSONALITY, IS(PERSONALITY_MACH)
END_ATTACH

ATTACH OUT_SAVED, 58
STEP "work: is there any on the way out", SWITCH_WORK, IS(WORK_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, NOT(NUMBERS_NONE)
	EXECUTES 5
	mov	current, %rcx
	testl	$WORK_CALL_OUT, THREAD_CALL_WORK(%rcx)
	jnz	1f
	cmpl	$0, THREAD_WORK(%rcx)
	je	2f
1:	push	%rax
	push	%rax			# the stack stays aligned
	CALL_C	work_on_the_way_out
	pop	%rax
	pop	%rax
2:
STEP "work: is there any on the way out to a program", SWITCH_WORK, IS(WORK_ON), ENTERED_BY, IS(BY_EXCEPTION)
	EXECUTES 5
	TEST_RING	FRAME_CS
	jz	1f
	mov	current, %rcx
	cmpl	$0, THREAD_WORK(%rcx)
	je	1f
	CALL_C	work_on_the_way_out
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

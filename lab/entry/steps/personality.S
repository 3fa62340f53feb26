/*
 * personality=mach: where the program's stack is, for traps of GNU Mach whose arguments are there: all of a 32-bit program, and behind the
 * sixth of a 64-bit one. mach_stack is where the stub's return address is, as `lcall` and `syscall` find it; the first argument lies
 * behind it. After sysenter and syscall of 32-bit code three words are in front of that, which the landing pad pops (vdso/gateway.inc).
 * The service reads it before anything else can run: the tick changes no thread.
 */
#include "entry/path.inc"

#define LANDING_PAD_POPS 12

ATTACH IN_SAVED, 05
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_SYSCALL), NUMBERS, IS(NUMBERS_X86_64)
	mov	program_rsp, %r11
	mov	%r11, mach_stack
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_SYSCALL), NUMBERS, IS(NUMBERS_I386)
	mov	program_rsp, %r11
	add	$LANDING_PAD_POPS, %r11
	mov	%r11, mach_stack
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_SYSENTER), NUMBERS, IS(NUMBERS_X86_64)
	mov	%rcx, mach_stack
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_SYSENTER), NUMBERS, IS(NUMBERS_I386)
	lea	LANDING_PAD_POPS(%rbp), %r11
	mov	%r11, mach_stack
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_INTERRUPT), NUMBERS, NOT(NUMBERS_NONE)
	mov	gate_frame, %r11
	mov	GATE_RSP(%r11), %r11
	mov	%r11, mach_stack
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_CALL_GATE), SWITCH_STACK, IS(STACK_MINIMUM)
	mov	gate_frame, %r11
	mov	CALL_RSP(%r11), %r11
	mov	%r11, mach_stack
/* With a full frame, the path has pushed the flags. */
STEP "Mach: note the program's stack", SWITCH_PERSONALITY, IS(PERSONALITY_MACH), ENTERED_BY, IS(BY_CALL_GATE), SWITCH_STACK, IS(STACK_FRAME)
	mov	gate_frame, %r11
	mov	CALL_RSP + 8(%r11), %r11
	mov	%r11, mach_stack
END_ATTACH

	.bss
	.balign	8
	.globl	mach_stack
mach_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits

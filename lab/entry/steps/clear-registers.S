/*
 * clear-registers=on: what a program had in registers is not in them while the kernel runs, so that no mispredicted path of the kernel
 * computes with it. Linux clears all registers, and loads the arguments of each call from the frame; here the arguments stay where
 * the ABI has them, and the others are cleared. The frame restores them. The path of exceptions has no arguments (exception.S).
 *
 * In protected mode there is nothing to clear, and this file is none of that kernel's: of its seven registers one is the number, and six are
 * arguments. Linux' SAVE_ALL there (arch/x86/entry/entry_32.S) clears none either, at exceptions too.
 */
#include "entry/path.inc"

#define CLEARED SWITCH_CLEAR_REGISTERS, IS(CLEAR_REGISTERS_ON), SWITCH_STACK, IS(STACK_FRAME)

.macro CLEAR_NO_ARGUMENTS conditions:vararg
STEP "clear registers", CLEARED, NUMBERS, IS(NUMBERS_X86_64), \conditions
	xor	%ecx, %ecx
	xor	%ebx, %ebx
	xor	%ebp, %ebp
	CLEAR_REST
.endm

.macro CLEAR_REST
	xor	%r11d, %r11d
	xor	%r12d, %r12d
	xor	%r13d, %r13d
	xor	%r14d, %r14d
	xor	%r15d, %r15d
.endm

.macro CLEAR_NO_ARGUMENTS_I386 conditions:vararg
/* Arguments of a trap, if it is a 64-bit program's (MACH_TRAP). */
STEP "clear registers", CLEARED, NUMBERS, IS(NUMBERS_I386), SWITCH_PERSONALITY, IS(PERSONALITY_LINUX), \conditions
	xor	%r8d, %r8d
	xor	%r9d, %r9d
	xor	%r10d, %r10d
STEP "clear registers", CLEARED, NUMBERS, IS(NUMBERS_I386), \conditions
	CLEAR_REST
.endm

ATTACH IN_SAVED, 10
CLEAR_NO_ARGUMENTS SWITCH_ORDER, IS(ORDER_LAB)
CLEAR_NO_ARGUMENTS_I386 SWITCH_ORDER, IS(ORDER_LAB)
/* In Linux's order, paths that are Linux's have cleared all of them (linux.inc). */
CLEAR_NO_ARGUMENTS SWITCH_ORDER, NOT(ORDER_LAB), ENTERED_BY, IS(BY_CALL_GATE)|IS(BY_SYSENTER)
CLEAR_NO_ARGUMENTS_I386 SWITCH_ORDER, NOT(ORDER_LAB), ENTERED_BY, IS(BY_CALL_GATE)
END_ATTACH

	.section .note.GNU-stack, "", @progbits

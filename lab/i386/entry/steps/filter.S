/*
 * filter=N: a filter program looks at every call (lab/entry/steps/filter.S, which interprets the same instructions). Registers that it
 * needs are those of the call, which come back from the frame.
 */
#include "entry/path.inc"
#include "entry/steps/events.h"
#include "entry/steps/filter.h"

.macro NOTE register, place
	mov	\register, filter_data + FILTER_ARGUMENTS + 8 * \place
.endm

/* Executes the program. Each instruction takes 9 of the processor's, and the last one 8. */
.macro INTERPRET program
	mov	$\program, %ebx
1:	movzwl	INSTRUCTION_CODE(%ebx), %ecx
	mov	INSTRUCTION_K(%ebx), %edx
	cmp	$FILTER_JUMP_EQUAL, %ecx
	je	2f
	cmp	$FILTER_LOAD, %ecx
	jne	3f
	mov	filter_data(%edx), %eax
	add	$INSTRUCTION_BYTES, %ebx
	jmp	1b
2:	cmp	%edx, %eax
	setne	%cl			# the rest of ecx is 0
	movzbl	INSTRUCTION_IF_EQUAL(%ebx, %ecx), %ecx
	lea	INSTRUCTION_BYTES(%ebx, %ecx, INSTRUCTION_BYTES), %ebx
	jmp	1b
3:	cmp	$FILTER_ALLOW, %edx	# FILTER_RETURN
	BRANCH	JNE, filter_refuses	# _Noreturn void filter_refuses(void)
.endm

ATTACH IN_SAVED, 52
STEP "filter: may it call", SWITCH_FILTER, NOT(0), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	EXECUTES 12, 9, SWITCH_FILTER
	mov	%eax, filter_data + FILTER_NUMBER
	movl	$ARCH_I386, filter_data + FILTER_ARCH
	NOTE	%ebx, 0
	NOTE	%ecx, 1
	NOTE	%edx, 2
	NOTE	%esi, 3
	NOTE	%edi, 4
	NOTE	%ebp, 5
	INTERPRET filter_i386
	mov	FRAME_AX(%esp), %eax
	mov	FRAME_BX(%esp), %ebx
	mov	FRAME_CX(%esp), %ecx
	mov	FRAME_DX(%esp), %edx
END_ATTACH

	.bss
	.balign	64
	.globl	filter_data
filter_data:				# the upper halves of arguments are 0
	.skip	64

	.section .note.GNU-stack, "", @progbits

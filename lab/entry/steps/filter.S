/*
 * filter=N: a filter program looks at every call, as those of seccomp do: N of its instructions are executed, and the last allows the
 * call. They are Linux's (classic BPF, include/uapi/linux/filter.h), and so is what they look at (struct seccomp_data), but for the
 * instruction's address, which is 0. They are interpreted, as where a kernel has no compiler for them. filter.c makes the programs, one
 * for each kind of call numbers.
 */
#include "entry/path.inc"
#include "entry/steps/events.h"
#include "entry/steps/filter.h"

.macro NOTE_32 register, place
	mov	\register, %r11d
	mov	%r11, filter_data + FILTER_ARGUMENTS + 8 * \place
.endm

/*
 * Executes the program, whose instructions are these three, as filter.c knows. Each instruction takes 9 of the processor's,
 * and the last one 8.
 */
.macro INTERPRET program
	mov	$\program, %r11
1:	movzwl	INSTRUCTION_CODE(%r11), %ecx
	mov	INSTRUCTION_K(%r11), %edx
	cmp	$FILTER_JUMP_EQUAL, %ecx
	je	2f
	cmp	$FILTER_LOAD, %ecx
	jne	3f
	mov	filter_data(%rdx), %eax
	add	$INSTRUCTION_BYTES, %r11
	jmp	1b
2:	cmp	%edx, %eax
	setne	%cl			# the rest of rcx is 0
	movzbl	INSTRUCTION_IF_EQUAL(%r11, %rcx), %ecx
	lea	INSTRUCTION_BYTES(%r11, %rcx, INSTRUCTION_BYTES), %r11
	jmp	1b
3:	cmp	$FILTER_ALLOW, %edx	# FILTER_RETURN
	BRANCH	JNE, filter_refuses	# _Noreturn void filter_refuses(void)
.endm

ATTACH IN_SAVED, 52
STEP "filter: may it call", SWITCH_FILTER, NOT(0), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_X86_64)
	EXECUTES 10, 9, SWITCH_FILTER
	mov	%eax, filter_data + FILTER_NUMBER
	movl	$ARCH_X86_64, filter_data + FILTER_ARCH
	mov	%rdi, filter_data + FILTER_ARGUMENTS
	mov	%rsi, filter_data + FILTER_ARGUMENTS + 8
	mov	%rdx, filter_data + FILTER_ARGUMENTS + 16
	mov	%r10, filter_data + FILTER_ARGUMENTS + 24
	mov	%r8, filter_data + FILTER_ARGUMENTS + 32
	mov	%r9, filter_data + FILTER_ARGUMENTS + 40
	INTERPRET filter_x86_64
	mov	FRAME_NUMBER(%rsp), %rax
	mov	FRAME_RDX(%rsp), %rdx
STEP "filter: may it call", SWITCH_FILTER, NOT(0), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	EXECUTES 17, 9, SWITCH_FILTER
	mov	%eax, filter_data + FILTER_NUMBER
	movl	$ARCH_I386, filter_data + FILTER_ARCH
	NOTE_32	%ebx, 0
	NOTE_32	%ecx, 1
	NOTE_32	%edx, 2
	NOTE_32	%esi, 3
	NOTE_32	%edi, 4
	NOTE_32	%ebp, 5
	INTERPRET filter_i386
	mov	FRAME_NUMBER(%rsp), %rax
	mov	FRAME_RCX(%rsp), %rcx
	mov	FRAME_RDX(%rsp), %rdx
END_ATTACH

	.bss
	.balign	64
	.globl	filter_data
filter_data:
	.skip	64

	.section .note.GNU-stack, "", @progbits

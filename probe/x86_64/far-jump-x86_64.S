/*
 * ljmp *to_32: a far jump from 64-bit code to the code segment 0x23, which is one of 32 bits; and back by another one. Nothing is
 * pushed. The descriptor is read, which decides the mode of what follows (SDM vol. 2, JMP: far). The privilege level stays 3, and
 * the kernel is not entered. Linux and the lab have these segments at the same selectors.
 * In: rcx, where 32-bit code finds the way back. Out: eax, the code segment that was reached. Changes rcx.
 * CONTROL puts the same in rcx.
 *
 * Upper halves are undefined behind 32-bit code, that of rsp, too, which both control and entry clear; so the stack is below 4 GiB
 * meanwhile. r8 to r15 come back as they were (SDM vol. 1, 3.4.1.1), so that r15 keeps the stack pointer.
 */
#include "timed.inc"

	.section .rodata
	.balign	8
to_32:	.long	in_32
	.word	USER_CODE_32

	.text
	.code32
	.balign	16
in_32:	mov	%cs, %eax
	ljmp	*%cs:(%ecx)		# ds is null in 64-bit programs of Linux
	.code64

/* A far pointer to the label 9 behind the instruction. */
.macro WAY_BACK
	.pushsection .rodata
	.balign	8
8:	.long	9f
	.word	USER_CODE_64
	.popsection
.endm

	.bss
	.balign	16
	.skip	64
low_stack_top:

.macro LOAD
	mov	%rsp, %r15
	mov	$low_stack_top, %esp
.endm
.macro ENTER
	lea	8f(%rip), %rcx
	ljmp	*to_32
	WAY_BACK
9:	mov	%esp, %esp
.endm
.macro CONTROL
	lea	8f(%rip), %rcx
	WAY_BACK
9:	mov	%esp, %esp
.endm
.macro UNLOAD
	mov	%r15, %rsp
.endm

ENTRY far_jump_x86_64

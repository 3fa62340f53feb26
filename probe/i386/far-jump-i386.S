/*
 * ljmp $0x33,$in_64: a far jump from 32-bit code to the code segment 0x33, which is one of 64 bits; and back by another one, which in 64-bit code
 * has its operand in memory. Nothing is pushed. The descriptor is read, which decides the mode of what follows (SDM vol. 2, JMP:
 * far). The privilege level stays 3, and the kernel is not entered. Linux and the lab have these segments at the same selectors.
 * In: ecx, where 64-bit code finds the way back. Out: eax, the code segment that was reached. Changes ecx.
 * CONTROL puts the same in ecx.
 */
#include "timed.inc"

	.text
	.balign	16
	.code64
in_64:	mov	%cs, %eax
	ljmp	*(%ecx)			# the upper half of rcx is undefined behind 32-bit code (SDM vol. 1, 3.4.1.1)
	.code32

/* A far pointer to the label 9 behind the instruction. */
.macro WAY_BACK
	.pushsection .rodata
	.balign	8
8:	.long	9f
	.word	USER_CODE_32
	.popsection
.endm

.macro LOAD
.endm
.macro ENTER
	lea	8f, %ecx
	ljmp	$USER_CODE_64, $in_64
	WAY_BACK
9:
.endm
.macro CONTROL
	lea	8f, %ecx
	WAY_BACK
9:
.endm
.macro UNLOAD
.endm

ENTRY far_jump_i386

/*
 * bound: #BR, a fault, where the register is beyond one of two numbers in memory (SDM vol. 3, 6.15). Only the lab serves it as a system call,
 * and skips its six bytes: the bounds have an absolute address.
 * In: eax number; ebx, ecx, edx; ebp = 1, since no operation has so many arguments. Out: eax.
 */
#include "timed.inc"

	.section .rodata
	.balign	8
bounds:	.long	0, 0

.macro LOAD
	LOAD_INT80
	mov	$1, %ebp
.endm
.macro ENTER
	bound	%ebp, bounds
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY bound

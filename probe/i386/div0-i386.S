/*
 * div by zero: #DE, a fault (SDM vol. 3, 6.15). Only the lab serves it as a system call, and skips its two bytes.
 * In: eax number; ebx, ecx, edx; ebp = 0, since no operation has so many arguments. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
	xor	%ebp, %ebp
.endm
.macro ENTER
	div	%ebp
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY div0_i386

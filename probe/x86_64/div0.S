/*
 * div by zero: #DE, a fault (SDM vol. 3, 6.15). Linux delivers SIGFPE; the handler (fault.c) skips the two bytes.
 * In: ecx = 0. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 */
#include "timed.inc"

.macro LOAD
	xor	%ecx, %ecx
.endm
.macro ENTER
	div	%ecx
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY div0

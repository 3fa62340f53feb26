/*
 * div by zero: #DE, a fault (SDM vol. 3, 6.15). Linux delivers SIGFPE; the handler (fault.c) skips the two bytes.
 * In: ecx = 0. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 * The lab serves it as a system call, and goes on behind it. In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
	xor	%ecx, %ecx	# the divisor: no argument of a call
.endm
.macro ENTER
	div	%ecx
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY div0

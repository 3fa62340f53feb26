/*
 * ud2: #UD, a fault (SDM vol. 3, 6.15). Linux delivers SIGILL; the handler (fault.c) skips the two bytes.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 * The lab serves it as a system call, and goes on behind it. In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	ud2
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY ud

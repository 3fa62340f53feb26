/*
 * ud2: #UD, a fault (SDM vol. 3, 6.15). Linux delivers SIGILL; the handler (fault.c) skips the two bytes.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	ud2
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY ud

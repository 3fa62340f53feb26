/*
 * int3: #BP, a trap: the saved rip is already past it (SDM vol. 3, 6.15). Linux delivers SIGTRAP.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	int3
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY int3

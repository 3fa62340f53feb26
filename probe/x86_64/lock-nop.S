/*
 * lock nop: #UD because nop takes no lock prefix (SDM vol. 2, LOCK). As bytes, since the assembler refuses it.
 * Linux delivers SIGILL; the handler (fault.c) skips the two bytes.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	.byte	0xf0, 0x90
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY lock_nop

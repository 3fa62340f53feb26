/*
 * lock nop: #UD because nop takes no lock prefix (SDM vol. 2, LOCK). As bytes, since the assembler refuses it. Only the
 * lab serves it as a system call, and skips its two bytes.
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	.byte	0xf0, 0x90
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY lock_nop_i386

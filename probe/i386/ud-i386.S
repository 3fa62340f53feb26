/*
 * ud2: #UD, a fault (SDM vol. 3, 6.15). Only the lab serves it as a system call, and skips its two bytes.
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	ud2
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY ud_i386

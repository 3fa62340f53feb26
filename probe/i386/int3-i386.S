/*
 * int3: #BP, a trap (SDM vol. 3, 6.15). Only the lab serves it as a system call.
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	int3
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY int3_i386

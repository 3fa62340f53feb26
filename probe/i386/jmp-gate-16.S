/*
 * As jmp-gate.S, through a call gate of 16 bits, whose offset is one of the segment's first 64 KiB.
 */
#include "timed.inc"
#include "conforming.inc"

.macro LOAD
	mov	$way_back, %ebp
.endm
.macro ENTER
	JUMP_BY	SELECTOR_GATE_JUMP_16
.endm
.macro CONTROL
	JUMP_NOT
.endm
.macro UNLOAD
.endm

ENTRY jmp_gate_16

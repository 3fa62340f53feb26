/*
 * lcall through a call gate of 16 bits that copies nothing from stack to stack (conforming.inc).
 * In: eax number; ebx, ecx, edx; ebp the far pointer back. Out: eax.
 * CONTROL jumps there and back without the call, and does all else.
 */
#include "timed.inc"
#include "conforming.inc"

.macro LOAD
	LOAD_INT80
	mov	$way_back, %ebp
.endm
.macro ENTER
	GO_TO	CONFORMING_GATE_16_0, 0
.endm
.macro CONTROL
	GO_TO	CONFORMING_BACK, 0
.endm
.macro UNLOAD
.endm

ENTRY call_gate_16_0

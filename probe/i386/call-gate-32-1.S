/*
 * lcall through a call gate of 32 bits that copies one doubleword (gate-32.inc).
 * In: eax number; ebx, ecx, edx. Out: eax.
 * CONTROL pushes and releases the same.
 */
#include "timed.inc"
#include "gate-32.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	PUSH_COPIED 1
	lcall	$SELECTOR_GATE_32_1, $0
.endm
.macro CONTROL
	PUSH_COPIED 1
	RELEASE	1
.endm
.macro UNLOAD
.endm

ENTRY call_gate_32_1

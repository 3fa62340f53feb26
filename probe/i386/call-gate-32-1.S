/*
 * lcall through a call gate of 32 bits that copies one doubleword from this stack to the kernel's (SDM vol. 3, 5.8.5). The kernel's
 * lret releases it here, too (5.8.6).
 * In: eax number; ebx, ecx, edx. Out: eax.
 * CONTROL pushes and releases the same.
 */
#include "lab.h"
#include "timed.inc"

#define COPIED 1

.macro PUSH_COPIED
	.rept	COPIED
	push	%eax
	.endr
.endm

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	PUSH_COPIED
	lcall	$SELECTOR_GATE_32_1, $0
.endm
.macro CONTROL
	PUSH_COPIED
	lea	4 * COPIED(%esp), %esp
.endm
.macro UNLOAD
.endm

ENTRY call_gate_32_1

/*
 * ljmp through a call gate to the lab's conforming code segment, whose code runs in ring 3 here; and back by a far jump. Nothing is pushed, and no
 * stack changes (SDM vol. 3, 5.8.4). The kernel is not entered.
 * In: ebp, where the other side finds the way back. Out: eax, the code segment that was reached.
 * CONTROL stores the same.
 */
#include "timed.inc"
#include "conforming.inc"

.macro LOAD
	mov	$way_back, %ebp
.endm
.macro ENTER
	JUMP_BY	SELECTOR_GATE_JUMP
.endm
.macro CONTROL
	JUMP_NOT
.endm
.macro UNLOAD
.endm

ENTRY jmp_gate

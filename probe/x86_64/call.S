/*
 * call *target: a near call and its return, all in ring 3 (SDM vol. 2, CALL).
 * In: rdi, rsi, rdx, rcx, r8. Out: rax. The target does nothing (start.S).
 */
#include "timed.inc"

.macro LOAD
	LOAD_FUNCTION
.endm
.macro ENTER
	call	*invocation + INVOCATION_TARGET
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY call

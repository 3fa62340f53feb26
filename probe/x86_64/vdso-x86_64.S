/*
 * call *target, the target being a function that the vDSO exports.
 * In: rdi, rsi, rdx, rcx, r8. Out: rax. Changes what a C function may.
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

ENTRY vdso_x86_64

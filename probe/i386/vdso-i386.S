/*
 * call *target, the target being a function that linux-gate.so.1 exports.
 * In: on the stack. Out: eax. Changes what a C function may.
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
	UNLOAD_FUNCTION
.endm

ENTRY vdso_i386

/*
 * call *target, the target being a function of the C library that this program was loaded with.
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

ENTRY libc

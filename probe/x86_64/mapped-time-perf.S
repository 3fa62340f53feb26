/*
 * call *target, the target being this probe's own reader (time_page.c, perf_page.c) of
 * a perf event's mapped page. No kernel entry.
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

ENTRY mapped_time_perf

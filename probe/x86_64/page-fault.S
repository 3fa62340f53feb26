/*
 * A one-byte read at rdi: #PF, a fault (SDM vol. 3, 6.15). Where the page may not be read, Linux delivers SIGSEGV and the
 * handler (fault.c) skips the two bytes; where it only was never touched, Linux maps its zero page and no signal comes.
 * In: rdi address. Out: al. Changes rax.
 */
#include "timed.inc"

.macro LOAD
	mov	invocation + INVOCATION_ARGUMENT(0), %rdi
.endm
.macro ENTER
	mov	(%rdi), %al
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY page_fault, ADVANCE

/*
 * mov %ebp, %ss with the selector of a segment that is not present: #SS, a fault (SDM vol. 3, 6.15). The lab has such a segment, serves this as a
 * system call, and skips its two bytes; the register keeps its value.
 * In: eax number; ebx, ecx, edx; ebp the selector, since no operation has so many arguments. Out: eax.
 */
#include "lab.h"
#include "timed.inc"

.macro LOAD
	LOAD_INT80
	mov	$SELECTOR_ABSENT, %ebp
.endm
.macro ENTER
	mov	%ebp, %ss
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY ss_fault

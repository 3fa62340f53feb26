/*
 * into: #OF, a trap, where OF is set (SDM vol. 3, 6.15). Only the lab serves it as a system call. LOAD sets OF, by a subtraction from the least
 * number; loads of registers and pushes leave it.
 * In: eax number; ebx, ecx, edx; ebp the least number, since no operation has so many arguments. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
	mov	$0x80000000, %ebp
	cmp	$1, %ebp
.endm
.macro ENTER
	into
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY into

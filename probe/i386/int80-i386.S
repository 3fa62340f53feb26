/*
 * int $0x80: through the gate at IDT vector 0x80, the stack from the TSS (SDM vol. 3, 6.12).
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	int	$0x80
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY int80_i386

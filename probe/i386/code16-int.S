/*
 * int $0x80 from 16-bit protected-mode code, on a stack of 16 bits, through the gate of 32 bits that 32-bit code has (SDM vol. 3, 21.4).
 * In: eax number; ebx, ecx, edx, as in 32-bit code. Out: eax.
 */
#include "sixteen.inc"

.macro ENTER
	int	$0x80
.endm

ENTRY code16_int

/*
 * int $0x80 in virtual-8086 mode with IOPL 0: #GP, which the lab's kernel for protected mode serves (SDM vol. 3, 20.2.7).
 * In: eax number; ebx, ecx, edx, as in 32-bit code. Out: eax.
 */
#include "sixteen.inc"

.macro ENTER
	int	$0x80
.endm

ENTRY v86_int

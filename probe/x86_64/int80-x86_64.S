/*
 * int $0x80 in 64-bit code: through the gate at IDT vector 0x80, the stack from TSS.RSP0; Linux takes the call
 * numbers of i386 whatever the code's bitness.
 * In: eax number; ebx, ecx, edx, the upper halves ignored: pointers must lie below 4 GiB. Out: rax.
 * Linux before 4.17 also zeroed r8 to r11.
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

ENTRY int80_x86_64

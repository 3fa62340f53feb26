/*
 * int $0x80 through an interrupt gate: as int80-i386, and IF = 0 (SDM vol. 3, 6.12.1.3). The lab's gate is one for
 * this row, whatever is switched.
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

ENTRY intgate_i386

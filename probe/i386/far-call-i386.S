/*
 * lcall $0x33,$in_64: a far call from 32-bit code to the code segment 0x33, which is one of 64 bits, and lret from there. cs and eip are
 * pushed, 4 bytes each, and the descriptor is read, which decides the mode of what follows (SDM vol. 2, CALL: far). The privilege
 * level stays 3, and the kernel is not entered. Linux and the lab have these segments at the same selectors.
 * In: nothing. Out: eax, the code segment that was reached.
 */
#include "timed.inc"

	.text
	.balign	16
	.code64
in_64:	mov	%esp, %esp		# its upper half is undefined behind 32-bit code (SDM vol. 1, 3.4.1.1)
	mov	%cs, %eax
	lretl				# of 32-bit operands, as they were pushed
	.code32

.macro LOAD
.endm
.macro ENTER
	lcall	$USER_CODE_64, $in_64
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY far_call_i386

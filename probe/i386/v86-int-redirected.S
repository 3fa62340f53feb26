/*
 * int in virtual-8086 mode that the processor redirects to the 8086's own table, with CR4.VME (SDM vol. 3, 20.3.3.4): to an iret in the same
 * mode. The kernel is not entered.
 * In: nothing. Out: nothing.
 */
#include "sixteen.inc"

	.purgem	LOAD
.macro LOAD
.endm
.macro ENTER
	int	$VECTOR_V86_REDIRECTED
.endm

ENTRY v86_int_redirected

	TIMED_SECTION
	.globl	sixteen_handler
sixteen_handler:
	iret

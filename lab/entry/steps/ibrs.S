/*
 * ibrs=on: the kernel runs with SPEC_CTRL.IBRS, so that its indirect branches do not follow what was learned in ring 3, and programs
 * run without. Every call pays, also one whose number does not exist.
 *
 * On the way in there is a stack, for the three registers that a write takes. On the way out there is none any more; what the registers
 * hold then is the program's, and may lie where its page tables reach. One place is enough: nothing that comes in between goes on
 * to a program by this step, for exceptions have their registers on the stack, and threads are switched by calls alone.
 *
 * An exception may come at any point of an entry, before IBRS is on or after it is off: it keeps what it finds, and puts that back.
 * Only to a program it goes back with what programs run with, whatever it has found: an exception that was to be a system call and
 * is not comes here with IBRS on (FOREIGN of instruction.inc).
 */
#include "entry/path.inc"
#include "entry/speculation.inc"

	.section .cpu_variables, "aw"
	.globl	spec_ctrl
	.balign 64
spec_ctrl:				# what the kernel runs with (speculation.c)
	.quad	0
registers_kept:
	.quad	0, 0, 0

ATTACH IN_KERNEL, 60
STEP "IBRS: on", SWITCH_IBRS, IS(IBRS_ON), ENTERED_BY, NOT(BY_EXCEPTION)
	push	%AX
	push	%CX
	push	%DX
	IBRS_ENTER
	pop	%DX
	pop	%CX
	pop	%AX
STEP "IBRS: on, and what it was is kept", SWITCH_IBRS, IS(IBRS_ON), ENTERED_BY, IS(BY_EXCEPTION)
	IBRS_ENTER %KEPT
END_ATTACH

ATTACH OUT_SAVED, 60
STEP "IBRS: as it was, or off for a program", SWITCH_IBRS, IS(IBRS_ON), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING	FRAME_CS
	jz	1f
	mov	spec_ctrl, %KEPT
	and	$~SPEC_CTRL_IBRS, %KEPT
1:	IBRS_EXIT %KEPT
END_ATTACH

ATTACH OUT_LATE, 60
STEP "IBRS: off", SWITCH_IBRS, IS(IBRS_ON), ENTERED_BY, NOT(BY_EXCEPTION)
	mov	%AX, AT(registers_kept)
	mov	%CX, AT(registers_kept + WORD_BYTES)
	mov	%DX, AT(registers_kept + 2*WORD_BYTES)
	IBRS_EXIT
	mov	AT(registers_kept), %AX
	mov	AT(registers_kept + WORD_BYTES), %CX
	mov	AT(registers_kept + 2*WORD_BYTES), %DX
END_ATTACH

	.section .note.GNU-stack, "", @progbits

/*
 * verw=on: the last of all steps before the instruction that leaves is VERW with an operand in memory, which clears store buffers, fill
 * buffers and load ports (MD_CLEAR: SDM vol. 2, VERW; "Microarchitectural Data Sampling"). On AMD's processors with VERW_CLEAR it clears
 * what transient schedulers leave. The form with a register clears nothing. Linux: CLEAR_CPU_BUFFERS, arch/x86/include/asm/nospec-branch.h.
 *
 * Where interrupts are on until the end (a trap gate, a call gate), a tick may come behind VERW, and what its handler leaves in the buffers is
 * not cleared. Linux leaves with interrupts off.
 *
 * What follows reads nothing but what the program itself has: its stack pointer, flags and the frame of iretq. An exception of the
 * kernel returns to the kernel, and clears nothing.
 */
#include "entry/path.inc"

	.section .cpu_variables, "aw"
	.globl	verw_selector
verw_selector:				# mapped by programs' page tables, too
	.word	SELECTOR_KERNEL_DATA

ATTACH OUT_LATE, 90
STEP "VERW: clear buffers", SWITCH_VERW, IS(VERW_ON), ENTERED_BY, NOT(BY_EXCEPTION)
	verw	AT_CODE(verw_selector)
STEP "VERW: clear buffers on the way to a program", SWITCH_VERW, IS(VERW_ON), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING	GATE_CS
	jz	1f
	verw	AT_CODE(verw_selector)
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

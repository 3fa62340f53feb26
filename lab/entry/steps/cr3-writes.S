/*
 * cr3-writes=N: writes the kernel's page tables to CR3 N times more, after the change of page tables that pti=on makes. It is
 * an experiment that was published for Linux 4.17, and tells what a write costs, apart from what else isolation does.
 */
#include "entry/path.inc"
#include "mm/tlb.inc"

ATTACH IN_SAVED, 50
STEP "CR3: write it again", SWITCH_CR3_WRITES, NOT(0)
	push	%rcx
	mov	kernel_cr3, %r11
	mov	$PARAMETER_VALUE, %ecx
	PARAMETER SWITCH_CR3_WRITES
	TLB_NOTE_CR3 kernel_cr3, %r11
1:	mov	%r11, %cr3
	dec	%ecx
	jnz	1b
	pop	%rcx
END_ATTACH

	.section .note.GNU-stack, "", @progbits

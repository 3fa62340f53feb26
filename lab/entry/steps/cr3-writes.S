/*
 * cr3-writes=N: writes the kernel's page tables to CR3 N times more, as soon as there is a stack behind the change of page tables
 * that pti=on makes. It is an experiment that was published for Linux 4.17, and tells what a write costs, apart from what else
 * isolation does: of one or two more, which the experiment had, a write is an instruction, beside what its register takes once. Every way in
 * pays for it, also a call whose number does not exist.
 */
#include "entry/path.inc"
#include "mm/tlb.inc"

ATTACH IN_KERNEL, 50
STEP "CR3: write it again", SWITCH_CR3_WRITES, IS(1)
	push	%AX
	mov	kernel_cr3, %AX
	TLB_NOTE_CR3 kernel_cr3, %AX
	mov	%AX, %cr3
	pop	%AX
STEP "CR3: write it again, twice", SWITCH_CR3_WRITES, IS(2)
	push	%AX
	mov	kernel_cr3, %AX
	TLB_NOTE_CR3 kernel_cr3, %AX
	mov	%AX, %cr3
	mov	%AX, %cr3
	pop	%AX
STEP "CR3: write it again and again", SWITCH_CR3_WRITES, NOT(0)&NOT(1)&NOT(2)
	EXECUTES 6, 3, SWITCH_CR3_WRITES
	push	%AX
	push	%CX
	mov	kernel_cr3, %AX
	mov	$PARAMETER_VALUE, %ecx
	PARAMETER SWITCH_CR3_WRITES
	TLB_NOTE_CR3 kernel_cr3, %AX
1:	mov	%AX, %cr3
	dec	%ecx
	jnz	1b
	pop	%CX
	pop	%AX
END_ATTACH

	.section .note.GNU-stack, "", @progbits

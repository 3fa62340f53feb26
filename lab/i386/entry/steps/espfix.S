/*
 * espfix=on: behind iret to a stack segment of 16 bits, the upper half of esp is the program's.
 *
 * Such a return loads sp alone, and leaves bits 31 to 16 of esp as they are in ring 0: the program reads a part of the address of the
 * kernel's stack, and has lost its own. So the stack is given another name before, under which esp has the program's upper half already: a segment
 * with B = 1, whose base makes up for it (Linux on i386: arch/x86/entry/entry_32.S, check_and_apply_espfix). The same bytes lie
 * there, with flat segments at esp + base. No frame lies over the end of 64 KiB: above each is room (ENTRY_STACK_PADDING).
 *
 * On that stack only NMI, #MC and the fault of the iret itself can come, since interrupts are off. All that is read meanwhile from another place
 * is read by CS. NMI and #MC go to the usual stack and back (exception.S); behind a fault there is no way back, because that ends the
 * program.
 *
 * lret to such a stack leaves the same. A call gate's caller with one goes back by iret (GATE_TO_OTHER_NAME, in the gates' paths, which know what they
 * have copied); then, as with exit=iret, a program that has set NT is ended. From rings 1 and 2 none goes back there (rings.S).
 *
 * In virtual-8086 mode all of esp comes back. A paragraph that looks like the selector is given the other stack for nothing, and without harm.
 */
#include "entry/espfix.inc"
#include "entry/path.inc"

	.section .cpu_variables, "aw"
	.globl	espfix_stack, espfix_kept
	.balign	8
espfix_stack:				# by its other name
	.long	0
	.word	SELECTOR_ESPFIX
	.balign	4
espfix_kept:
	.long	0

ATTACH IN_EARLY, 05
STEP "espfix: back to the stack's own name", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_EXCEPTION)
	EXECUTES 5
	push	%eax
	mov	%ss, %eax
	cmp	$SELECTOR_ESPFIX, %ax
	jne	1f
	ESPFIX_BASE
	add	%esp, %eax
	push	$SELECTOR_KERNEL_DATA
	push	%eax
	lss	(%esp), %esp
1:	pop	%eax
END_ATTACH

ATTACH OUT_LATE, 85
STEP "espfix: is the stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_INTERRUPT)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, GATE_SS(%esp)
	jne	1f
	TO_OTHER_NAME
1:
STEP "espfix: is the stack of 16 bits, and a program's", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING GATE_CS
	jz	1f
	cmpw	$SELECTOR_DATA_16, GATE_SS(%esp)
	jne	1f
	TO_OTHER_NAME
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

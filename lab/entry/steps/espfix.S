/*
 * espfix=on: behind iretq to a stack segment of 16 bits, bits 31 to 16 of esp are the program's.
 *
 * Such a return loads sp alone, and leaves all other bits of rsp as they are in ring 0: the program reads a part of the address of the
 * kernel's stack, and has lost its own. Segments have no base here that could make up for it. So the exit stack is mapped a second time, at
 * 65,536 places, one for each upper half that esp can have (mm/tables.c: Linux has the same, arch/x86/kernel/espfix_64.c), and the frame is
 * popped there. Linux maps it read-only, so that the fault of the iretq becomes a double fault; here, the fault's frame goes on the same stack, and
 * the program ends as it does behind any other iretq. Bits 63 to 32 stay those of the place, which everybody knows.
 *
 * lretq to such a stack leaves the same. A call gate's caller with one goes back by iretq; then, as with exit=iret, a program that has set NT
 * is ended. From rings 1 and 2 none goes back there (rings.S).
 */
#include "entry/espfix.inc"
#include "entry/path.inc"
#include "mm/addresses.h"

	.section .cpu_variables, "aw"
	.balign	8
	.globl	espfix_map, espfix_kept
espfix_map:				# mm/tables.c
	.quad	ESPFIX_MAP
espfix_kept:
	.quad	0, 0

ATTACH OUT_LATE, 85
STEP "espfix: is the stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_INTERRUPT)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, GATE_SS(%rsp)
	jne	1f
	TO_OTHER_PLACE GATE_SS, GATE_RSP, GATE_FLAGS, GATE_CS, GATE_RIP
1:
STEP "espfix: is the stack of 16 bits, and a program's", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_EXCEPTION)
	TEST_RING GATE_CS
	jz	1f
	cmpw	$SELECTOR_DATA_16, GATE_SS(%rsp)
	jne	1f
	TO_OTHER_PLACE GATE_SS, GATE_RSP, GATE_FLAGS, GATE_CS, GATE_RIP
1:
STEP "espfix: is the stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_CALL_GATE), SWITCH_STACK, IS(STACK_FRAME)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, CALL_SS + 8(%rsp)
	jne	1f
	TO_OTHER_PLACE CALL_SS+8, CALL_RSP+8, 0, CALL_CS+8, CALL_RIP+8
2:	iretq
	FAULT	2b, 0
1:
STEP "espfix: is the stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON), ENTERED_BY, IS(BY_CALL_GATE), SWITCH_STACK, IS(STACK_MINIMUM)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, CALL_SS(%rsp)
	jne	1f
	TO_OTHER_PLACE CALL_SS, CALL_RSP, , CALL_CS, CALL_RIP
2:	iretq
	FAULT	2b, 0
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

/*
 * #BR, an index out of its bounds, as a system call (SDM vol. 3, 6.15). The processor raises it, and does not ask for the gate's DPL.
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip, no error code; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it. AC, DF, segments and page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret. Only a `bound` of a register with bounds at an absolute address is a system call; others remain exceptions.
 */
#include "entry/instruction.inc"

#define BOUND_MASK 0xc7ff /* all but which register */
#define BOUND	   0x0562 /* 62, and ModRM: an address of 32 bits */
#define LENGTH	   6

.macro IDENTIFY
	IDENTIFY_BY BOUND, LENGTH, BOUND_MASK
.endm

SERVING_EXCEPTION bound, 5, IDENTIFY

	.section .note.GNU-stack, "", @progbits

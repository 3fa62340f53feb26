/*
 * #NP as a system call: FS is loaded with a segment that is not present (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip and the error code, the selector without its RPL; cleared
 * IF, TF, NT. The saved address is that of the instruction, so the kernel must skip it, and FS is as it was. AC, DF, segments and
 * page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret. Only a `mov` from a register is a system call; what else meets such a segment remains an exception.
 */
#include "entry/instruction.inc"

#define LOAD_MASK 0xf8ff /* all but which register */
#define LOAD	  0xe08e /* 8e /4: FS */
#define LENGTH	  2

.macro IDENTIFY
	IDENTIFY_BY LOAD, LENGTH, LOAD_MASK
.endm

SERVING_FAULT np_fault, 11, SELECTOR_ABSENT&~SELECTOR_RING, IDENTIFY

	.section .note.GNU-stack, "", @progbits

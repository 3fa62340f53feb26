/*
 * #DE, the division by zero, as a system call (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip, no error code; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it. AC, DF, segments and page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret. Only `div` by a 32-bit register is a system call; other divisions by zero remain exceptions.
 */
#include "entry/instruction.inc"

#define DIV_MASK 0xf8ff /* all but which register */
#define DIV	 0xf0f7 /* f7 /6 */
#define LENGTH	 2

.macro IDENTIFY
	IDENTIFY_BY DIV, LENGTH, DIV_MASK
.endm

SERVING_EXCEPTION div0, 0, IDENTIFY

	.section .note.GNU-stack, "", @progbits

/*
 * #GP as a system call: a read beyond the limit of a segment (SDM vol. 3, 5.3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip and the error code, which is 0; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it; it has read nothing, and moved no pointer. AC, DF, segments and
 * page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret. Only `lodsb` through FS is a system call; every other #GP remains an exception.
 */
#include "entry/instruction.inc"

#define LODSB_FS 0xac64
#define LENGTH	 2

.macro IDENTIFY
	IDENTIFY_BY LODSB_FS, LENGTH
.endm

SERVING_FAULT limit_fault, 13, 0, IDENTIFY

	.section .note.GNU-stack, "", @progbits

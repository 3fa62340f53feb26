/*
 * #DE, the division by zero, as a system call (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF, TF, NT.
 * The address is that of the instruction: it must be skipped. AC and DF are the program's. Page tables are the program's.
 * In: as syscall. Out: rax. Lost: nothing.
 * Back: iretq. Only `div` of a 32-bit register serves; other divisions are exceptions as ever.
 */
#include "entry/instruction.inc"

#define DIV_MASK 0xf8ff /* all but which register */
#define DIV	 0xf0f7 /* f7 /6 */
#define LENGTH	 2

.macro IDENTIFY
READ_INSTRUCTION
STEP "is it ours?"
	and	$DIV_MASK, %r11d
	cmp	$DIV, %r11d
	BRANCH	JNE, 54f
	addq	$LENGTH, GATE_RIP(%rcx)
.endm

PATH div0
FROM_KERNEL 0
GATE_IN
SERVE_INSTRUCTION IDENTIFY
GATE_OUT
STEP "iret"
1:	iretq
	FAULT	1b, 0
SERVE_INSTRUCTION_RARE
FOREIGN 0
END_PATH

	.section .note.GNU-stack, "", @progbits

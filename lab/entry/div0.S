/*
 * #DE, the division by zero, as a system call (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it. AC, DF and page tables are the program's.
 * In: as syscall, or in a 32-bit program as int $0x80. Out: rax. Lost: nothing.
 * Back: iretq. Only `div` by a 32-bit register is a system call; other divisions by zero remain exceptions.
 */
#include "entry/instruction.inc"

#define DIV_MASK 0xf8ff /* all but which register */
#define DIV	 0xf0f7 /* f7 /6 */
#define LENGTH	 2

.macro IDENTIFY frame
READ_INSTRUCTION \frame
STEP "is it ours?"
	and	$DIV_MASK, %r11d
	cmp	$DIV, %r11d
	BRANCH	JNE, 54f
	addq	$LENGTH, GATE_RIP(\frame)
.endm

SERVING_EXCEPTION div0, 0, IDENTIFY

	.section .note.GNU-stack, "", @progbits

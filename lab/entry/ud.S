/*
 * #UD as a system call: ud2, and `lock nop`, which its prefix makes invalid (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it. AC, DF and page tables are the program's.
 * In: as syscall, or in a 32-bit program as int $0x80. Out: rax. Lost: nothing.
 * Back: iretq. Other invalid instructions remain exceptions.
 */
#include "entry/instruction.inc"

#define UD2	 0x0b0f
#define LOCK_NOP 0x90f0
#define LENGTH	 2

.macro IDENTIFY frame
READ_INSTRUCTION \frame
STEP "is it ours?"
	cmp	$UD2, %r11d
	je	1f
	cmp	$LOCK_NOP, %r11d
	BRANCH	JNE, 54f
1:	addq	$LENGTH, GATE_RIP(\frame)
.endm

SERVING_EXCEPTION ud, 6, IDENTIFY

	.section .note.GNU-stack, "", @progbits

/*
 * #UD as a system call: ud2, and `lock nop`, which its prefix makes invalid (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip, no error code; cleared IF, TF, NT.
 * The saved address is that of the instruction, so the kernel must skip it. AC, DF, segments and page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret. Other invalid instructions remain exceptions.
 */
#include "entry/instruction.inc"

#define UD2	 0x0b0f
#define LOCK_NOP 0x90f0
#define LENGTH	 2

.macro IDENTIFY
READ_INSTRUCTION
STEP "is it ours?"
	cmp	$UD2, %ecx
	je	1f
	cmp	$LOCK_NOP, %ecx
	BRANCH	JNE, 54f
1:	addl	$LENGTH, GATE_IP(%edx)
	FORGET_INSTRUCTION
.endm

SERVING_EXCEPTION ud, 6, IDENTIFY

	.section .note.GNU-stack, "", @progbits

/*
 * #UD as a system call: ud2, and `lock nop`, which is invalid by its prefix (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF, TF, NT.
 * The address is that of the instruction: it must be skipped. AC and DF are the program's. Page tables are the program's.
 * In: as syscall, or in a 32-bit program as int $0x80. Out: rax. Lost: nothing.
 * Back: iretq. Other invalid instructions are exceptions as ever.
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

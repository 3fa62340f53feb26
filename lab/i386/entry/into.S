/*
 * #OF, the overflow trap, as a system call (SDM vol. 3, 6.15): into, where OF is set. It asks for the gate as int $4 does, so that its DPL is 3.
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip, no error code; cleared IF (the gate
 * is an interrupt gate), TF, NT. It is a trap: the saved address is already that of the next instruction. AC, DF and segments are the
 * program's. Page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing; OF comes back set, as it was pushed.
 * Back: iret.
 */
#include "entry/instruction.inc"

PATH into_i386, BY_INTERRUPT, I386
FROM_KERNEL 4
GATE_IN
SERVE
GATE_IRET
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

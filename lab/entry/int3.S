/*
 * #BP, the breakpoint, as a system call (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF (the gate
 * is an interrupt gate), TF, NT. It is a trap: the address is already behind the instruction. AC and DF are the
 * program's. Page tables are the program's.
 * In: as syscall. Out: rax. Lost: nothing.
 * Back: iretq.
 */
#include "entry/instruction.inc"

PATH int3
FROM_KERNEL 3
GATE_IN
SERVE X86_64
GATE_OUT
STEP "iret"
1:	iretq
	FAULT	1b, 0
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * #BP, the breakpoint, as a system call (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, rsp, rflags, cs, rip, no error code; cleared IF (the gate
 * is an interrupt gate), TF, NT. It is a trap: the saved address is already that of the next instruction. AC and DF are the
 * program's. Page tables are the program's.
 * In: as syscall, or in a 32-bit program as int $0x80. Out: rax. Lost: nothing.
 * Back: iretq.
 */
#include "entry/instruction.inc"

.macro SERVING_BREAKPOINT abi, dispatch
PATH int3_\abi, BY_INTERRUPT, \dispatch
ALL_WITH SWITCH_ORDER, IS(ORDER_LAB)
FROM_KERNEL 3
GATE_IN
SERVE \dispatch
GATE_IRET
SERVE_RARE
EXCEPTION_AS_LINUX \dispatch, 3
ALL_END
END_PATH
.endm

SERVING_BREAKPOINT x86_64, X86_64
SERVING_BREAKPOINT i386, I386

	.section .note.GNU-stack, "", @progbits

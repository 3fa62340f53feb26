/*
 * A task gate of DPL 3, in the IDT for `int` and in the GDT for `lcall`: both lead to the same task (SDM vol. 3, 7.2.5, 7.3).
 *
 * The hardware has: done what task.inc says; left the program's TSS busy, and set NT and the link of this one to it.
 * In: as int $0x80, in the program's TSS. Out: eax. Lost: nothing.
 * Back: iret, which with NT set takes the TSS that the link names, and makes this one available. It reads no stack.
 */
#include "entry/task.inc"

PATH task_gate, BY_TASK, I386
TASK_SERVES
STEP "was it called"
	TASK_WAS_CALLED	JE, 76f
STEP "iret to the task that called"
	iret
TASK_AGAIN
TASK_RARE
STEP "it was jumped to: so is the program's task"
76:	ljmp	$SELECTOR_TSS, $0
TASK_AGAIN
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * A task gate of DPL 3 in the GDT, for `ljmp`: to a task that nobody has called, and that jumps back (SDM vol. 3, 7.3, table 7-2).
 *
 * The hardware has: done what task.inc says; made the program's TSS available. NT and the link of this one are as they were, 0: iret would
 * be a return on the stack.
 * In: as int $0x80, in the program's TSS. Out: eax. Lost: nothing.
 * Back: a far jump to the TSS of programs, which makes this one available.
 */
#include "entry/task.inc"

PATH task_jmp, BY_TASK, I386
TASK_SERVES
STEP "was it jumped to"
	TASK_WAS_CALLED	JNE, 76f
STEP "ljmp to the program's task"
	ljmp	$SELECTOR_TSS, $0	# no offset is used: its TSS has one
TASK_AGAIN
TASK_RARE
STEP "it was called: so it returns"
76:	iret
TASK_AGAIN
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * A task that calls another one: the program calls this one through a gate of its own, and this one calls that of task-gate.S, which serves
 * and takes number and arguments from the program's TSS, two links away (SDM vol. 3, 7.4).
 *
 * The hardware has: as for task-gate.S, twice. Three TSSs are busy then, and none of them can be called. The inner task's iret finds NT set in
 * the outer one's flags, which this one's iret needs.
 */
#include "entry/task.inc"

PATH task_nested, BY_KERNEL
STEP "the outer task: was it called"
1:	TASK_WAS_CALLED	JE, 2f
STEP "the outer task: call the inner one"
	lcall	$SELECTOR_GATE_TASK, $0
STEP "IBT: may be entered", SWITCH_IBT, IS(IBT_ON)
	endbr32
STEP "the outer task: iret to the task that called"
	iret
STEP "IBT: may be entered", SWITCH_IBT, IS(IBT_ON)
	endbr32
STEP "the outer task: to its beginning"
	JUMP	1b
STEP "the outer task: it was jumped to, so is the program's, and nothing is served"
2:	ljmp	$SELECTOR_TSS, $0
STEP "IBT: may be entered", SWITCH_IBT, IS(IBT_ON)
	endbr32
STEP "the outer task: to its beginning"
	JUMP	1b
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * What the tasks of #DB, NMI and #MC execute (events.h). A task ends with iret, and NT says that this is a return to the task of the link.
 * Its eip is then stored behind it: there it begins the next time.
 */
#include "entry/path.inc"
#include "entry/speculation.inc"

/*
 * What is done against speculation wherever the kernel is entered, and left for a program, belongs here, too (any_time_steps,
 * entry/exception.S). All registers are free.
 */
.macro EVENT_TASK name
	.globl	\name\()_task
\name\()_task:
	endbr32				# where an entry begins, with ibt=on
	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_ENTER %KEPT
1:	testb	$ANY_TIME_IBPB, any_time_steps
	jz	1f
	IBPB
1:	testb	$ANY_TIME_UNTRAIN, any_time_steps
	jz	1f
	call	untrain_returns
1:	call	\name\()_event
	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_EXIT %KEPT
1:	testb	$ANY_TIME_VERW, any_time_steps
	jz	1f
	verw	verw_selector
1:	iret
	endbr32				# and where it begins the next time
	jmp	\name\()_task
.endm

	.text
	EVENT_TASK debug
	EVENT_TASK nmi
	EVENT_TASK machine_check

	.section .note.GNU-stack, "", @progbits

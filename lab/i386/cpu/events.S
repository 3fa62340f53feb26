/*
 * What the tasks of #DB, NMI and #MC execute (events.h). A task ends with iret, and NT says that this is a return to the task of the link.
 * Its eip is then stored behind it: there it begins the next time.
 */
	.macro EVENT_TASK name
	.globl	\name\()_task
\name\()_task:
	call	\name\()_event
	iret
	jmp	\name\()_task
	.endm

	.text
	EVENT_TASK debug
	EVENT_TASK nmi
	EVENT_TASK machine_check

	.section .note.GNU-stack, "", @progbits

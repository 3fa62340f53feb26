/*
 * void switch_space(void)
 * The kernel is about to enter another address space than that of the program which ran last. Nothing but what is attached to
 * AT_SWITCH. Lost: what a C function may change.
 */
#include "entry/steps.inc"

PATH switch_space, BY_KERNEL
HOOK AT_SWITCH
RETURN_FROM_PATH
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * personality=mach: where the arguments of a trap are, on the program's stack. Paths note it behind the test of the number's sign, where a
 * register is free (NOTE_MACH_STACK of entry/steps.inc): its low half alone, for C has it as 64 bits.
 */
	.bss
	.balign	8
	.globl	mach_stack
mach_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits

/* personality=mach: where the arguments of a trap are, on the program's stack (lab/entry/steps/personality.S). */
	.bss
	.balign	8
	.globl	mach_stack
mach_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits

/*
 * Stacks, and the variables of the paths. Each stack has pages of its own, and below them one that is not mapped
 * (guard_pages_unmap), so that an overflow faults and changes nothing else. The variables have a cache line and a page of
 * their own, so that nothing else that is written there moves them or shares their line.
 */
	.macro STACK name, bytes, section, type
	.section \section, "aw", \type
	.balign	4096
	.pushsection .guard_pages, "a"
	.quad	1f
	.popsection
1:	.skip	4096
	.skip	\bytes
	.globl	\name
\name:
	.endm

	STACK	main_stack_top, 16384, .bss.stacks, @nobits
	STACK	kernel_stack_top, 16384, .bss.stacks, @nobits
	STACK	entry_stack_top, 12288, .cpu_stacks, @progbits

	.section .cpu_variables, "aw"
	.globl	kernel_cr3, user_cr3, program_rsp, gate_frame, landing_pad, observed_flags
	.balign 64
kernel_cr3:
	.quad	0
user_cr3:
	.quad	0
program_rsp:				# after syscall: the program's stack pointer
	.quad	0
gate_frame:				# after a gate: where its frame is, on the entry stack
	.quad	0
landing_pad:				# where the 32-bit vDSO goes on
	.quad	0
	.balign 64
observed_flags:
	.quad	0

	.section .note.GNU-stack, "", @progbits

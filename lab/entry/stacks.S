/*
 * Stacks, and the variables of the paths. Each stack has pages of its own, and below them one that is not mapped
 * (guard_pages_unmap), so that an overflow faults and changes nothing else. The variables have a cache line and a page of
 * their own, so that nothing else that is written there moves them or shares their line.
 */
#include "entry/layout.h"

	.macro STACK bytes, section, type
	.section \section, "aw", \type
	.balign	4096
	.pushsection .guard_pages, "a"
	.quad	1f
	.popsection
1:	.skip	4096
	.skip	\bytes
	.endm

	.macro STACK_TOP name, bytes, section, type
	STACK	\bytes, \section, \type
	.globl	\name
\name:
	.endm

	/* One for each thread. */
	.macro STACKS name, bytes, section, type
	.section \section, "aw", \type
	.balign	4096
	.globl	\name
\name:
	.rept	MOST_THREADS
	STACK	\bytes, \section, \type
	.endr
	.endm

	STACK_TOP main_stack_top, 16384, .bss.stacks, @nobits
	STACKS	kernel_stacks, KERNEL_STACK_BYTES, .bss.stacks, @nobits
	STACKS	entry_stacks, ENTRY_STACK_BYTES, .cpu_stacks, @progbits
	STACK_TOP exit_stack_top, EXIT_STACK_BYTES, .cpu_stacks, @progbits

	.section .cpu_stacks, "aw", @progbits
	.balign	64
	.globl	ring_stacks
ring_stacks:				# of each thread one for ring 1, then one for ring 2: nothing overflows a frame
	.skip	MOST_THREADS * 2 * RING_STACK_BYTES

	.section .cpu_variables, "aw"
	.globl	kernel_cr3, user_cr3, kernel_stack, program_rsp, gate_frame, landing_pad, entry_stack
	.globl	observed_flags, any_time_steps, user_pcid, user_flush_mask
	.balign 64
kernel_cr3:
	.quad	0
user_cr3:
	.quad	0
kernel_stack:				# the top of the current thread's
	.quad	0
program_rsp:				# after syscall: the program's stack pointer
	.quad	0
gate_frame:				# after a gate: where its frame is, on the entry stack or a copy
	.quad	0
landing_pad:				# where the 32-bit vDSO goes on
	.quad	0
entry_stack:				# the top of the current thread's
	.quad	0
	.balign 64
user_pcid:				# with pcid=lazy: the identifier in kernel_cr3; that of user_cr3 has PCID_PROGRAM besides
	.quad	0
user_flush_mask:			# a bit for each of those whose program's is to be flushed when the program's tables are entered
	.quad	0
	.balign 64
observed_flags:
	.quad	0
any_time_steps:				# ANY_TIME_*
	.quad	0

	.section .note.GNU-stack, "", @progbits

/* As lab/entry/stacks.S, of whose variables those are here that paths in protected mode have. */
#include "cpu/registers.h"
#include "entry/layout.h"

	.macro STACK bytes, section, type
	.section \section, "aw", \type
	.balign	4096
	.pushsection .guard_pages, "a"
	.long	1f
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
	STACK_TOP double_fault_stack_top, 4096, .cpu_stacks, @progbits
	/* Tasks of cpu/events.c, which run with the kernel's page tables. */
	STACK_TOP debug_stack_top, 4096, .bss.stacks, @nobits
	STACK_TOP nmi_stack_top, 4096, .bss.stacks, @nobits
	STACK_TOP machine_check_stack_top, 4096, .bss.stacks, @nobits

	.section .cpu_stacks, "aw", @progbits
	.balign	64
	.globl	ring_stacks
ring_stacks:				# of each thread one for ring 1, then one for ring 2: nothing overflows a frame
	.skip	MOST_THREADS * 2 * RING_STACK_BYTES

	.balign	16
	.globl	task_16_stack
task_16_stack:
	.skip	TASK_16_STACK_BYTES

	.section .cpu_variables, "aw"
	.globl	kernel_cr3, user_cr3, kernel_stack, program_rsp, gate_frame, landing_pad, entry_stack
	.globl	observed_flags, any_time_steps
	.balign 64
kernel_cr3:
	.long	0
user_cr3:
	.long	0
kernel_stack:				# the top of the current thread's
	.long	0
	.word	SELECTOR_KERNEL_DATA, 0	# for lss
program_rsp:				# after syscall: the program's stack pointer
	.long	0
gate_frame:				# after a gate: where its frame is, on the entry stack or a copy
	.long	0
landing_pad:				# where the 32-bit vDSO goes on
	.long	0
entry_stack:				# the top of the current thread's
	.long	0
	.balign 64
observed_flags:
	.long	0
any_time_steps:				# ANY_TIME_*
	.long	0

	.section .note.GNU-stack, "", @progbits

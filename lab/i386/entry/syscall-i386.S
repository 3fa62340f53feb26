/*
 * syscall in protected mode, AMD's (APM vol. 2, 6.1.1; vol. 3, SYSCALL; the address is in the lower half of STAR). Intel's processors raise
 * #UD, and so do AMD's unless EFER.SCE is set, as it is with events-by=task alone.
 *
 * The hardware has: eip to ecx; cleared IF, RF and VM; loaded flat cs and ss. There is no mask of flags: TF, NT, DF and AC are the program's, and so
 * are DS, ES, FS and GS, and esp. Page tables are the program's.
 *
 * So the first instructions and the last run in ring 0 with a stack pointer that a program has chosen. Nothing here uses it as a stack. No
 * interrupt comes, for IF is clear; NMI, #MC and #DB (the first instruction's, of a program that steps) have tasks of their own
 * (cpu/events.h). Nothing else may fault.
 * In: eax number; ebx, ebp (ecx being lost), edx, esi, edi. On the program's stack: ebp, edx, ecx. Out: eax.
 * Back: sysret to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns. It sets IF, and CS; of SS it sets the selector (APM
 * vol. 3, SYSRET).
 */
#include "entry/steps.inc"

.macro PUSH_IRET_FRAME
	push	$SELECTOR_USER_DATA
	push	%ss:program_rsp
	push	$RFLAGS_PROGRAM
	push	$SELECTOR_USER_CODE_32
	push	%ss:landing_pad
.endm

/* Three words in front of what a trap of Mach's looks for, as behind sysenter. */
.macro PROGRAM_SP
	mov	program_rsp, %ecx
	add	$LANDING_PAD_POPS, %ecx
.endm

/* For the steps of all paths, this is as sysenter: no flag but IF is cleared. */
PATH syscall_i386, BY_SYSENTER, I386
HOOK IN_EARLY
STEP "note the program's stack"
	mov	%esp, %ss:program_rsp
TO_KERNEL_TABLES %esp, lost	# the only register that is free
STEP "switch stack"
	mov	%ss:kernel_stack, %esp
STEP "push what the hardware does not keep", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME
STEP "take the second argument"
	mov	%ebp, %ecx
SEGMENTS_IN
HOOK IN_KERNEL
SERVE PROGRAM_SP
SEGMENTS_OUT
TO_PROGRAM_TABLES %esp, lost, SWITCH_EXIT, IS(EXIT_NATURAL)
HOOK OUT_LATE, SWITCH_EXIT, IS(EXIT_NATURAL)
STEP "sysret", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	%ss:landing_pad, %ecx
	mov	%ss:program_rsp, %esp
	sysret
EXIT_BY_IRET
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

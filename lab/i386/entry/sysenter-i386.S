/*
 * sysenter (SDM vol. 2, SYSENTER; the address is in IA32_SYSENTER_EIP).
 *
 * The hardware has: cleared IF and VM; loaded eip, esp, flat cs and ss. It has saved nothing. TF, NT, DF and AC are the program's, and so
 * are DS, ES, FS and GS. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi; ebp the program's stack pointer; ebp, edx, ecx on that stack. Out: eax.
 * Back: sysexit to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns.
 */
#include "entry/steps.inc"

.macro PUSH_IRET_FRAME
	push	$SELECTOR_USER_DATA
	push	%ebp
	push	$RFLAGS_PROGRAM
	push	$SELECTOR_USER_CODE_32
	push	%ss:landing_pad
.endm

PATH sysenter_i386, BY_SYSENTER, I386
HOOK IN_EARLY
TO_KERNEL_TABLES %eax, kept		# not esp: an NMI would push to where CR3 points
STEP "PTI: switch to the kernel's stack", TRAMPOLINE
	mov	%ss:kernel_stack, %esp
STEP "push what the hardware does not keep", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME
SEGMENTS_IN
HOOK IN_KERNEL
SERVE
SEGMENTS_OUT
STEP "PTI: switch to the exit stack", TRAMPOLINE, SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	$exit_stack_top, %esp	# sysexit may fault, and this stack stays mapped
TO_PROGRAM_TABLES %edx, lost, SWITCH_EXIT, IS(EXIT_NATURAL)
HOOK OUT_LATE, SWITCH_EXIT, IS(EXIT_NATURAL)
STEP "sysexit", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	%ss:landing_pad, %edx
	mov	%ebp, %ecx
	sti				# holds off interrupts for one instruction
1:	sysexit
	FAULT	1b, 0
EXIT_BY_IRET
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * sysenter in compatibility mode (SDM vol. 2, SYSENTER; the address is in IA32_SYSENTER_EIP).
 *
 * The hardware has: cleared IF; loaded rip, rsp (the kernel's stack), flat cs and ss, 64-bit mode. It has saved nothing.
 * TF, NT, DF and AC are the program's. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi; ebp the program's stack pointer; ebp, edx, ecx on that stack. Out: eax.
 * Back: sysexit to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns.
 */
#include "entry/steps.inc"

PATH sysenter_i386, BY_SYSENTER, I386
SYSENTER_IN
STEP "keep the program's stack"
	mov	%ebp, %ebp		# the upper half is undefined
STEP "push what the hardware does not keep", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME %rbp, $RFLAGS_PROGRAM, $SELECTOR_USER_CODE_32, landing_pad
SERVE I386
SYSENTER_OUT
STEP "sysexit", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	landing_pad, %edx
	mov	%ebp, %ecx
	sti				# holds off interrupts for one instruction
1:	sysexitl
	FAULT	1b, 0			# in long mode, AMD's processors have no sysexit either
IRET_INSTEAD %rbp, $RFLAGS_PROGRAM, $SELECTOR_USER_CODE_32, landing_pad
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

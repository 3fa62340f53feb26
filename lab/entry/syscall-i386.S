/*
 * syscall in compatibility mode (APM vol. 3, SYSCALL; the address is in IA32_CSTAR). AMD's processors have it; Intel's
 * raise #UD.
 *
 * The hardware has: eip to ecx, rflags to r11, then cleared what FMASK names; cs and ss flat, 64-bit mode. rsp is the
 * program's. Page tables are the program's.
 * In: eax number; ebx, ebp (ecx being lost), edx, esi, edi. On the program's stack: ebp, edx, ecx. Out: eax.
 * Back: sysretl to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns.
 */
#include "entry/steps.inc"

PATH syscall_i386, BY_SYSCALL, I386
HOOK IN_EARLY
STEP "note the program's stack"
	mov	%esp, %esp		# the upper half is undefined
	mov	%rsp, program_rsp
TO_KERNEL_TABLES %rsp, lost		# the only register that is free
STEP "switch stack"
	mov	kernel_stack, %rsp
HOOK IN_KERNEL
STEP "push what the hardware keeps in registers", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME program_rsp, %r11, $SELECTOR_USER_CODE_32, landing_pad
STEP "take the second argument"
	mov	%ebp, %ecx
SERVE I386
STEP "return to the landing pad"
	mov	landing_pad, %ecx
TO_PROGRAM_TABLES %rsp, lost, SWITCH_EXIT, IS(EXIT_NATURAL)
HOOK OUT_LATE, SWITCH_EXIT, IS(EXIT_NATURAL)
STEP "sysret", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	program_rsp, %rsp
	sysretl
IRET_INSTEAD program_rsp, %r11, $SELECTOR_USER_CODE_32, %rcx
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

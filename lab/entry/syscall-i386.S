/*
 * syscall in compatibility mode (APM vol. 3, SYSCALL; the address is in IA32_CSTAR). AMD's processors have it; Intel's
 * raise #UD.
 *
 * The hardware has: eip to ecx, rflags to r11, then cleared what FMASK names; cs and ss flat, 64-bit mode. rsp is the
 * program's. Page tables are the program's.
 * In: eax number; ebx, ebp (ecx being lost), edx, esi, edi. On the program's stack: ebp, edx, ecx. Out: eax.
 * Back: sysretl to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns.
 *
 * The path has two bodies: the lab's own order, and that of Linux (entry_SYSCALL_compat).
 */
#include "entry/compat.inc"

PATH syscall_i386, BY_SYSCALL, I386
ALL_WITH SWITCH_ORDER, IS(ORDER_LAB)
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

ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
BEGIN_CALL_AS_LINUX
STEP "note the program's stack"
	mov	%esp, %r8d		# the upper half is undefined
TO_KERNEL_AS_LINUX %rsp
STEP "switch stack"
	mov	kernel_stack, %rsp
STEP "push what the hardware keeps in registers", FRAMED
	PUSH_IRET_FRAME %r8, %r11, $SELECTOR_USER_CODE_32, %rcx
STEP "save registers", FRAMED
	mov	%eax, %eax
	push	%rax			# the call's number
	push	%rdi
PUSH_AND_CLEAR %rsi, esi, IN_5_10
PUSH_AND_CLEAR %rdx, edx, IN_5_10
PUSH_AND_CLEAR %rbp, ecx, IN_5_10	# the second argument
STEP "save registers", FRAMED, SINCE_6_1
	push	%rsi
	push	%rdx
	push	%rbp			# the second argument
STEP "save registers", FRAMED
	push	$-ENOSYS		# in the place of rax
PUSH_THE_REST_OF_5_10
PUSH_THE_REST_SINCE_6_1
CR3_WRITES_AS_LINUX
AGAINST_SPECULATION_AS_LINUX
CLEAR_BRANCH_HISTORY_AS_LINUX
STEP "pass the frame"
	mov	%rsp, %rdi
STEP "call what serves"
	CALL_C	60f
RETURN_BY_SYSRETL 0

/* What Linux has in C: do_fast_syscall_32. */
STEP "C: serve"
60:	pop	%r12
STEP "Mach: note the program's stack pointer", MACH
	mov	CALL_FRAME_RSP(%rsp), %r11
	mov	%r11, program_rsp
SERVE_FAST_SYSCALL_32
ALL_END
END_PATH

	.section .note.GNU-stack, "", @progbits

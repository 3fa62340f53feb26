/*
 * sysenter in compatibility mode (SDM vol. 2, SYSENTER; the address is in IA32_SYSENTER_EIP).
 *
 * The hardware has: cleared IF; loaded rip, rsp (the kernel's stack), flat cs and ss, 64-bit mode. It has saved nothing.
 * TF, NT, DF and AC are the program's. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi; ebp the program's stack pointer; ebp, edx, ecx on that stack. Out: eax.
 * Back: sysexit to the landing pad of the 32-bit vDSO, which pops ebp, edx, ecx, and returns; in Linux's order (entry_SYSENTER_compat) sysretl.
 */
#include "entry/compat.inc"

/* With these, the kernel would be stepped, be ended by iretq, or reach a program's memory. */
#define FLAGS_OF_NO_KERNEL (RFLAGS_TF | RFLAGS_NT | RFLAGS_AC)
#define RFLAGS_NONE	   2

PATH sysenter_i386, BY_SYSENTER, I386
ALL_WITH SWITCH_ORDER, IS(ORDER_LAB)
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

ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
BEGIN_CALL_AS_LINUX
STEP "a register for the page tables"
	push	%rax
TO_KERNEL_AS_LINUX %rax
STEP "a register for the page tables"
	pop	%rax
STEP "switch stack"
	mov	kernel_stack, %rsp
STEP "push what the hardware does not keep, or its place", FRAMED
	push	$SELECTOR_USER_DATA
	push	$0
	pushf
	push	$SELECTOR_USER_CODE_32
	push	$0
STEP "save registers", FRAMED
	mov	%eax, %eax
	push	%rax			# the call's number
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	$-ENOSYS		# in the place of rax
PUSH_THE_REST_OF_5_10
PUSH_THE_REST_SINCE_6_1
STEP "clear the direction flag"
	cld
.macro FLAGS_OF_THE_KERNEL label, conditions:vararg
STEP "flags: are they a kernel's", \conditions
	testl	$FLAGS_OF_NO_KERNEL, CALL_FRAME_FLAGS(%rsp)
	BRANCH	JNE, 66f
STEP "flags: they are a kernel's", \conditions
\label:
.endm
FLAGS_OF_THE_KERNEL 67, SINCE_6_1
CR3_WRITES_AS_LINUX
AGAINST_SPECULATION_AS_LINUX
CLEAR_BRANCH_HISTORY_AS_LINUX
FLAGS_OF_THE_KERNEL 68, IN_5_10
STEP "pass the frame"
	mov	%rsp, %rdi
STEP "call what serves"
	CALL_C	60f
RETURN_BY_SYSRETL 1
STEP "flags: a kernel's"
66:	push	$RFLAGS_NONE
	popf
STEP "flags: back", SINCE_6_1
	JUMP	67b
STEP "flags: back", IN_5_10
	JUMP	68b

/* What Linux has in C: do_SYSENTER_32. */
STEP "C: serve"
60:	pop	%r12
STEP "C: what the hardware did not keep"
	mov	FRAME_RBP(%rsp), %eax	# the upper half is undefined
	mov	%rax, CALL_FRAME_RSP(%rsp)
	orl	$RFLAGS_IF, CALL_FRAME_FLAGS(%rsp)
SERVE_FAST_SYSCALL_32
ALL_END
END_PATH

	.section .note.GNU-stack, "", @progbits

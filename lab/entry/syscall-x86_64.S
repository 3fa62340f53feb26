/*
 * syscall in 64-bit mode (SDM vol. 2, SYSCALL; the address is in IA32_LSTAR).
 *
 * The hardware has: rip to rcx, rflags to r11, then cleared what IA32_FMASK names (TF, IF, DF, IOPL, NT, AC); cs and ss
 * flat. It has saved nothing to memory: rsp is the program's. Page tables are the program's.
 * In: rax number; rdi, rsi, rdx, r10, r8, r9. Out: rax. Lost: rcx, r11.
 * Back: sysretq takes rip from rcx and rflags from r11. rcx is canonical, because programs cannot use the last page of the
 * lower half.
 *
 * The path has two bodies: the lab's own order, and that of Linux (entry_SYSCALL_64).
 */
#include "entry/linux.inc"

PATH syscall_x86_64, BY_SYSCALL, X86_64
ALL_WITH SWITCH_ORDER, IS(ORDER_LAB)
HOOK IN_EARLY
STEP "note the program's stack"
	mov	%rsp, program_rsp
TO_KERNEL_TABLES %rsp, lost		# the only register that is free
STEP "switch stack"
	mov	kernel_stack, %rsp
HOOK IN_KERNEL
STEP "push what the hardware keeps in registers", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME program_rsp, %r11, $SELECTOR_USER_CODE_64, %rcx
SERVE X86_64
TO_PROGRAM_TABLES %rsp, lost, SWITCH_EXIT, IS(EXIT_NATURAL)
HOOK OUT_LATE, SWITCH_EXIT, IS(EXIT_NATURAL)
STEP "sysret", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	program_rsp, %rsp
	sysretq
IRET_INSTEAD program_rsp, %r11, $SELECTOR_USER_CODE_64, %rcx
SERVE_RARE

ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
BEGIN_CALL_AS_LINUX
STEP "note the program's stack"
	mov	%rsp, program_rsp
TO_KERNEL_AS_LINUX %rsp
STEP "switch stack"
	mov	kernel_stack, %rsp
STEP "push what the hardware keeps in registers", FRAMED
	PUSH_IRET_FRAME program_rsp, %r11, $SELECTOR_USER_CODE_64, %rcx
STEP "save registers", FRAMED
	push	%rax			# the call's number
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	$-ENOSYS		# in the place of rax
	PUSH_BELOW_RAX
CLEAR_AS_LINUX
STEP "pass the number and the frame", IN_5_10
	mov	%rax, %rdi
	mov	%rsp, %rsi
STEP "pass the frame and the number", SINCE_6_1
	mov	%rsp, %rdi
	movslq	%eax, %rsi
CR3_WRITES_AS_LINUX
AGAINST_SPECULATION_AS_LINUX
CLEAR_BRANCH_HISTORY_AS_LINUX
STEP "call what serves"
	CALL_C	60f
IDLE_NOP "Xen", 5, UNTIL_6_1

/* sysretq would fault in ring 0, or lose flags, with some values that a debugger may have put into the frame; then it is iretq. */
STEP "return checks: may it be sysretq", RETURN_CHECKS, UNTIL_6_1
	mov	FRAME_RCX(%rsp), %rcx
	mov	CALL_FRAME_RIP(%rsp), %r11
	cmp	%rcx, %r11
	BRANCH	JNE, 65f
	shl	$16, %rcx		# is it canonical
	sar	$16, %rcx
	cmp	%rcx, %r11
	BRANCH	JNE, 65f
	cmpq	$SELECTOR_USER_CODE_64, CALL_FRAME_CS(%rsp)
	BRANCH	JNE, 65f
	mov	FRAME_R11(%rsp), %r11
	cmp	%r11, CALL_FRAME_FLAGS(%rsp)
	BRANCH	JNE, 65f
	test	$FLAGS_BY_IRET, %r11
	BRANCH	JNE, 65f
	cmpq	$SELECTOR_USER_DATA, CALL_FRAME_SS(%rsp)
	BRANCH	JNE, 65f
STEP "return checks: may it be sysretq", RETURN_CHECKS, SINCE_6_12
	test	%al, %al
	BRANCH	JE, 65f
IBRS_OFF_AS_LINUX
STEP "restore registers", FRAMED
	POP_BUT_RDI
STEP "copy-frame: rsp and rdi to the entry stack", COPIED
	mov	%rsp, %rdi
	mov	entry_stack, %rsp
	push	CALL_FRAME_RSP - 14*8(%rdi)
	push	(%rdi)
STEP "a register for the page tables", UNTIL_6_1
	push	%rax
IDLE_JUMP_UNLESS "isolation", TABLES
STEP "PTI: a register for the page tables", TABLES, SINCE_6_12
	push	%rax
TO_PROGRAM_AS_LINUX
STEP "a register for the page tables", UNTIL_6_1
	pop	%rax
STEP "PTI: a register for the page tables", TABLES, SINCE_6_12
	pop	%rax
STEP "copy-frame: rdi and rsp from the entry stack", COPIED
	pop	%rdi
	pop	%rsp
SWAPGS_AND_VERW_AS_LINUX
STEP "sysret"
	sysretq
STEP "return checks: by iretq", RETURN_CHECKS
65:
ALL_END
ALL_WITH SWITCH_RETURN_CHECKS, IS(RETURN_CHECKS_ON)
RETURN_BY_IRET CALL_FRAME_RIP

/* What Linux has in C: do_syscall_64. */
ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
STEP "C: serve"
60:	pop	%r12
SERVE_AS_LINUX X86_64
/* Since 6.7 it is C that looks whether the way out may be sysretq; 0 in al: it may not. */
STEP "C: may it be sysretq", RETURN_CHECKS, SINCE_6_12
	EXECUTES 15
	xor	%eax, %eax
	mov	CALL_FRAME_RIP(%rsp), %rcx
	cmp	%rcx, FRAME_RCX(%rsp)
	jne	1f
	mov	CALL_FRAME_FLAGS(%rsp), %r11
	cmp	%r11, FRAME_R11(%rsp)
	jne	1f
	cmpq	$SELECTOR_USER_CODE_64, CALL_FRAME_CS(%rsp)
	jne	1f
	cmpq	$SELECTOR_USER_DATA, CALL_FRAME_SS(%rsp)
	jne	1f
	shr	$47, %rcx		# a program's address
	jnz	1f
	test	$FLAGS_BY_IRET, %r11
	sete	%al
1:
RETURN_AS_LINUX
ALL_END
END_PATH

	.section .note.GNU-stack, "", @progbits

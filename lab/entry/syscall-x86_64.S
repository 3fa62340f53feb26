/*
 * syscall in 64-bit mode (SDM vol. 2, SYSCALL; the address is in IA32_LSTAR).
 *
 * The hardware has: rip to rcx, rflags to r11, then cleared what IA32_FMASK names (TF, IF, DF, IOPL, NT, AC); cs and ss
 * flat. It has saved nothing to memory: rsp is the program's. Page tables are the program's.
 * In: rax number; rdi, rsi, rdx, r10, r8, r9. Out: rax. Lost: rcx, r11.
 * Back: sysretq takes rip from rcx and rflags from r11. rcx is canonical, because programs cannot use the last page of the
 * lower half.
 */
#include "entry/steps.inc"

PATH syscall_x86_64, BY_SYSCALL, X86_64
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
END_PATH

	.section .note.GNU-stack, "", @progbits

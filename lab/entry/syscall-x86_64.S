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

PATH syscall_x86_64
STEP "note the program's stack"
	mov	%rsp, user_rsp
STEP "PTI: switch to the kernel's page tables", SWITCH_PTI, PTI_ON
	mov	kernel_cr3, %rsp	# the only register that is free
	mov	%rsp, %cr3
STEP "switch stack"
	mov	$kernel_stack_top, %rsp
STEP "push what the hardware keeps in registers", SWITCH_STACK, STACK_FRAME
	PUSH_IRET_FRAME user_rsp, %r11, $SELECTOR_USER_CODE_64, %rcx
SERVE X86_64
STEP "PTI: switch to the program's page tables", SWITCH_PTI, PTI_ON, SWITCH_EXIT, EXIT_NATURAL
	mov	user_cr3, %rsp
	mov	%rsp, %cr3
STEP "sysret", SWITCH_EXIT, EXIT_NATURAL
	mov	user_rsp, %rsp
	sysretq
IRET_INSTEAD user_rsp, %r11, $SELECTOR_USER_CODE_64, %rcx
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

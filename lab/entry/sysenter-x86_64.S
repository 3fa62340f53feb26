/*
 * sysenter in 64-bit mode (SDM vol. 2, SYSENTER; the address is in IA32_SYSENTER_EIP). Intel's processors have it; in
 * AMD's long mode it raises #UD.
 *
 * The hardware has: cleared IF; loaded rip, rsp (the kernel's stack), flat cs and ss. It has saved nothing: not where it
 * came from, not the stack, not the flags. TF, NT, DF and AC are the program's. Page tables are the program's.
 * In: rax number; rdi, rsi, rdx, r10, r8, r9; rcx the program's stack pointer, r11 where it wants to go on, both by this
 * kernel's own convention, which mirrors what sysexit takes. Out: rax. Lost: rcx, rdx, r11.
 * Back: sysexitq takes rip from rdx and rsp from rcx, and leaves IF clear unless the kernel sets it.
 */
#include "entry/steps.inc"

PATH sysenter_x86_64, BY_SYSENTER, X86_64
SYSENTER_IN
STEP "push what the hardware does not keep", SWITCH_STACK, IS(STACK_FRAME)
	PUSH_IRET_FRAME %rcx, $RFLAGS_PROGRAM, $SELECTOR_USER_CODE_64, %r11
SERVE X86_64
SYSENTER_OUT
STEP "sysexit", SWITCH_EXIT, IS(EXIT_NATURAL)
	mov	%r11, %rdx
	sti				# holds off interrupts for one instruction
1:	sysexitq
	FAULT	1b, 0			# an address that is not canonical
IRET_INSTEAD %rcx, $RFLAGS_PROGRAM, $SELECTOR_USER_CODE_64, %r11
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * entry_call of the device `entry`, 64-bit code: the variant ENTER (crates/places/build/lab.rs), one in each image. A stub loads the
 * number of its trap and jumps here, so that one return address is on the stack, as behind a stub that enters itself.
 *
 * In: eax the number; rdi, rsi, rdx, rcx, r8, r9 and the stack behind the return address as C's ABI has arguments. Out: eax.
 * Lost: r10, and what the entry loses, all of which are C's to lose.
 */
	.macro ENTER_SYSCALL
	syscall
	.endm

/* The kernel's own convention: the stack in rcx, and where to go on in r11 (entry/sysenter-x86_64.S). */
	.macro ENTER_SYSENTER
	mov	%rsp, %rcx
	lea	1f(%rip), %r11
	sysenter
1:
	.endm

	.macro ENTER_INT80
	int	$0x80
	.endm

	.text
	.globl	entry_call
	.type	entry_call, @function
entry_call:
	.cfi_startproc
	mov	%rcx, %r10		# the fourth argument, as for any entry
	ENTER
	ret
	.cfi_endproc
	.size	entry_call, . - entry_call

	.section .note.GNU-stack, "", @progbits

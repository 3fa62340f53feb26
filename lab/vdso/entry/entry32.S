/*
 * entry_call of the device `entry`, 32-bit code: as entry64.S, but that all arguments are on the stack.
 *
 * In: eax the number; arguments from 4(%esp) on. Out: eax. All other registers are kept: behind sysenter and syscall the landing pad of
 * the vDSO goes on, which pops what is pushed here, and returns to where the stub was called from.
 */
#include "vdso/gateway.inc"

	.macro ENTER_GATE
	lcall	$7, $0
	ret
	.endm

	.macro ENTER_INT80
	int	$0x80
	ret
	.endm

	.text
	.globl	entry_call
	.type	entry_call, @function
entry_call:
	.cfi_startproc
	ENTER
	.cfi_endproc
	.size	entry_call, . - entry_call

	.section .note.GNU-stack, "", @progbits

/*
 * syscall in compatibility mode: ecx = eip, cs and ss from IA32_STAR, rip = IA32_CSTAR (APM vol. 3, SYSCALL); Intel
 * raises #UD. Linux takes the second argument from ebp, since ecx is lost, and ebp from the stack, and goes back to the
 * 32-bit vDSO's landing pad, which pops ebp, edx, ecx and returns.
 * In: eax number; ebx, ecx, edx. Out: eax.
 * CONTROL does the landing pad's work in its place.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	call	8f		# what the landing pad returns to; a call, so that its ret is predicted
	jmp	9f
8:
	push	%ecx
	push	%edx
	push	%ebp
	mov	%ecx, %ebp
	syscall
9:
.endm
.macro CONTROL
	call	8f		# what the landing pad returns to; a call, so that its ret is predicted
	jmp	9f
8:
	push	%ecx
	push	%edx
	push	%ebp
	mov	%ecx, %ebp
	pop	%ebp
	pop	%edx
	pop	%ecx
	ret
9:
.endm
.macro UNLOAD
.endm

ENTRY syscall_i386
SEQUENCES syscall_i386
	.set	enters_by_call, 1	# so that the stub's return address is ENTER's
TRAPS syscall_i386

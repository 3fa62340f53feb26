/*
 * sysenter: cs, eip, esp from the SYSENTER MSRs, nothing saved (SDM vol. 2, SYSENTER). The return address is therefore
 * fixed: Linux goes back to the 32-bit vDSO's landing pad, which pops ebp, edx, ecx and returns. Linux takes esp from
 * ebp, and ebp from the stack.
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
	mov	%esp, %ebp
	sysenter
9:
.endm
.macro CONTROL
	call	8f		# what the landing pad returns to; a call, so that its ret is predicted
	jmp	9f
8:
	push	%ecx
	push	%edx
	push	%ebp
	mov	%esp, %ebp
	pop	%ebp
	pop	%edx
	pop	%ecx
	ret
9:
.endm
.macro UNLOAD
.endm

ENTRY sysenter_i386
SEQUENCES sysenter_i386
	.set	enters_by_call, 1	# so that the stub's return address is ENTER's
TRAPS sysenter_i386

/* audit=on (lab/entry/steps/audit.S). */
#include "entry/path.inc"
#include "entry/steps/events.h"

/* A word of the frame: what the program has passed as that argument. Lost: edx. */
.macro NOTE from, place
	mov	\from(%esp), %edx
	mov	%edx, audit_records + AUDIT_ARGUMENTS + 8 * \place(%ecx)
	movl	$0, audit_records + AUDIT_ARGUMENTS + 8 * \place + 4(%ecx)
.endm

ATTACH OUT_SAVED, 50
STEP "audit: a record", SWITCH_AUDIT, IS(AUDIT_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	mov	audit_written, %ecx
	and	$AUDIT_MASK, %ecx
	addl	$AUDIT_BYTES, audit_written
	mov	FRAME_NUMBER(%esp), %edx
	mov	%edx, audit_records + AUDIT_NUMBER(%ecx)
	movl	$ARCH_I386, audit_records + AUDIT_ARCH(%ecx)
	cltd				# the result as 64 bits, with its sign
	mov	%eax, audit_records + AUDIT_RESULT(%ecx)
	mov	%edx, audit_records + AUDIT_RESULT + 4(%ecx)
	NOTE	FRAME_BX, 0
	NOTE	FRAME_CX, 1
	NOTE	FRAME_DX, 2
	NOTE	FRAME_SI, 3
	NOTE	FRAME_DI, 4
	NOTE	FRAME_BP, 5
END_ATTACH

	.bss
	.balign	64
	.globl	audit_records, audit_written
audit_records:
	.skip	AUDIT_MASK + AUDIT_BYTES
audit_written:				# bytes, modulo 2^32
	.skip	64

	.section .note.GNU-stack, "", @progbits

/*
 * audit=on: when a call has been served, a record of it goes to a ring, as the kernel's audit has it: architecture, number, arguments,
 * result. What the program has passed is in the frame. A call that does not return leaves no record. The plan's line `check audit`
 * shows them (trace.c).
 */
#include "entry/path.inc"
#include "entry/steps/events.h"

/* A word of the frame, or its lower half: what the program has passed as that argument. Lost: rcx. */
.macro NOTE_64 from, place
	mov	\from(%rsp), %rcx
	mov	%rcx, audit_records + AUDIT_ARGUMENTS + 8 * \place(%r11)
.endm

.macro NOTE_32 from, place
	mov	\from(%rsp), %ecx
	mov	%rcx, audit_records + AUDIT_ARGUMENTS + 8 * \place(%r11)
.endm

.macro RECORD arch
	mov	audit_written, %r11d
	and	$AUDIT_MASK, %r11d
	addl	$AUDIT_BYTES, audit_written
	mov	FRAME_NUMBER(%rsp), %ecx
	mov	%ecx, audit_records + AUDIT_NUMBER(%r11)
	movl	$\arch, audit_records + AUDIT_ARCH(%r11)
	mov	%rax, audit_records + AUDIT_RESULT(%r11)
.endm

ATTACH OUT_SAVED, 50
STEP "audit: a record", SWITCH_AUDIT, IS(AUDIT_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_X86_64)
	RECORD	ARCH_X86_64
	NOTE_64	FRAME_RDI, 0
	NOTE_64	FRAME_RSI, 1
	NOTE_64	FRAME_RDX, 2
	NOTE_64	FRAME_R10, 3
	NOTE_64	FRAME_R8, 4
	NOTE_64	FRAME_R9, 5
STEP "audit: a record", SWITCH_AUDIT, IS(AUDIT_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	RECORD	ARCH_I386
	NOTE_32	FRAME_RBX, 0
	NOTE_32	FRAME_RCX, 1
	NOTE_32	FRAME_RDX, 2
	NOTE_32	FRAME_RSI, 3
	NOTE_32	FRAME_RDI, 4
	NOTE_32	FRAME_RBP, 5
END_ATTACH

	.bss
	.balign	64
	.globl	audit_records, audit_written
audit_records:
	.skip	AUDIT_MASK + AUDIT_BYTES
audit_written:				# bytes, modulo 2^32
	.skip	64

	.section .note.GNU-stack, "", @progbits

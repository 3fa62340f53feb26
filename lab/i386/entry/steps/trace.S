/* trace=on (lab/entry/steps/trace.S). What is lost of the call's registers comes back from the frame. */
#include "entry/path.inc"
#include "entry/steps/events.h"

/* Where the next event goes, to ecx; the time to it. Lost: eax, edx. */
.macro BEGIN_EVENT what
	rdtsc
	mov	trace_written, %ecx
	and	$TRACE_MASK, %ecx
	mov	%eax, trace_events + EVENT_TIME(%ecx)
	mov	%edx, trace_events + EVENT_TIME + 4(%ecx)
	movl	$\what, trace_events + EVENT_WHAT(%ecx)
	addl	$EVENT_BYTES, trace_written
.endm

/* An argument, which fills a word of 64 bits. */
.macro NOTE register, place
	mov	\register, trace_events + EVENT_ARGUMENTS + 8 * \place(%ecx)
	movl	$0, trace_events + EVENT_ARGUMENTS + 8 * \place + 4(%ecx)
.endm

ATTACH IN_SAVED, 54
STEP "trace: before the service", SWITCH_TRACE, IS(TRACE_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	BEGIN_EVENT TRACE_BEFORE
	mov	FRAME_CX(%esp), %eax
	mov	FRAME_DX(%esp), %edx
	NOTE	%ebx, 0
	NOTE	%eax, 1
	NOTE	%edx, 2
	NOTE	%esi, 3
	NOTE	%edi, 4
	NOTE	%ebp, 5
	mov	FRAME_AX(%esp), %eax
	mov	%eax, trace_events + EVENT_NUMBER(%ecx)
	mov	FRAME_CX(%esp), %ecx
END_ATTACH

ATTACH OUT_SAVED, 52
STEP "trace: behind the service", SWITCH_TRACE, IS(TRACE_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, NOT(NUMBERS_NONE)
	mov	%eax, %esi
	BEGIN_EVENT TRACE_BEHIND
	mov	FRAME_NUMBER(%esp), %eax
	mov	%eax, trace_events + EVENT_NUMBER(%ecx)
	mov	%esi, %eax
	cltd				# as 64 bits, with its sign
	mov	%eax, trace_events + EVENT_RESULT(%ecx)
	mov	%edx, trace_events + EVENT_RESULT + 4(%ecx)
END_ATTACH

	.bss
	.balign	64
	.globl	trace_events, trace_written
trace_events:
	.skip	TRACE_MASK + EVENT_BYTES
trace_written:				# bytes, modulo 2^32
	.skip	64

	.section .note.GNU-stack, "", @progbits

/*
 * trace=on: a hook before the service and one behind it write an event of one cache line each to a ring, as tracepoints of system
 * calls do (sys_enter, sys_exit): time, number, and the arguments or the result. The plan's line `check trace` shows them (trace.c).
 */
#include "entry/path.inc"
#include "entry/steps/events.h"

/* Where the next event goes, to r11; the time to it. Lost: rax, rdx. */
.macro BEGIN_EVENT what
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	mov	trace_written, %r11d
	and	$TRACE_MASK, %r11d
	mov	%rdx, trace_events + EVENT_TIME(%r11)
	movl	$\what, trace_events + EVENT_WHAT(%r11)
	addl	$EVENT_BYTES, trace_written
.endm

/* An argument of 32 bits, which fills a word. Lost: rax. */
.macro NOTE_32 register, place
	mov	\register, %eax
	mov	%rax, trace_events + EVENT_ARGUMENTS + 8 * \place(%r11)
.endm

ATTACH IN_SAVED, 54
STEP "trace: before the service", SWITCH_TRACE, IS(TRACE_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_X86_64)
	BEGIN_EVENT TRACE_BEFORE
	mov	FRAME_NUMBER(%rsp), %rax
	mov	FRAME_RDX(%rsp), %rdx
	mov	%eax, trace_events + EVENT_NUMBER(%r11)
	mov	%rdi, trace_events + EVENT_ARGUMENTS(%r11)
	mov	%rsi, trace_events + EVENT_ARGUMENTS + 8(%r11)
	mov	%rdx, trace_events + EVENT_ARGUMENTS + 16(%r11)
	mov	%r10, trace_events + EVENT_ARGUMENTS + 24(%r11)
	mov	%r8, trace_events + EVENT_ARGUMENTS + 32(%r11)
	mov	%r9, trace_events + EVENT_ARGUMENTS + 40(%r11)
STEP "trace: before the service", SWITCH_TRACE, IS(TRACE_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, IS(NUMBERS_I386)
	BEGIN_EVENT TRACE_BEFORE
	mov	FRAME_RDX(%rsp), %rdx
	NOTE_32	%ebx, 0
	NOTE_32	%ecx, 1
	NOTE_32	%edx, 2
	NOTE_32	%esi, 3
	NOTE_32	%edi, 4
	NOTE_32	%ebp, 5
	mov	FRAME_NUMBER(%rsp), %rax
	mov	%eax, trace_events + EVENT_NUMBER(%r11)
END_ATTACH

ATTACH OUT_SAVED, 52
STEP "trace: behind the service", SWITCH_TRACE, IS(TRACE_ON), SWITCH_STACK, IS(STACK_FRAME), NUMBERS, NOT(NUMBERS_NONE)
	mov	%rax, %rsi
	BEGIN_EVENT TRACE_BEHIND
	mov	FRAME_NUMBER(%rsp), %ecx
	mov	%ecx, trace_events + EVENT_NUMBER(%r11)
	mov	%rsi, trace_events + EVENT_RESULT(%r11)
	mov	%rsi, %rax
END_ATTACH

	.bss
	.balign	64
	.globl	trace_events, trace_written
trace_events:
	.skip	TRACE_MASK + EVENT_BYTES
trace_written:				# bytes, modulo 2^32
	.skip	64

	.section .note.GNU-stack, "", @progbits

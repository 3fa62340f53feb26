#include "call.h"

/* The kernel starts us here. All registers are 0, and the stack is aligned to 16. */
	.text
	.globl _start
_start:
	call	main
	ud2			# main does not return

/*
 * uint32_t timed(struct call *call), uint32_t control(struct call *call)
 *
 * Mach's trap on x86-64: the number in rax, six arguments in rdi, rsi, rdx, r10, r8 and r9, and the others where a C caller put them,
 * above the address that the stub returns to. The kernel changes rax, rcx and r11. NAME_begin and NAME_end are the two rdtsc.
 */
	.macro	timed name, entry:vararg
	.globl	\name, \name\()_begin, \name\()_end
\name:
	push	%rbx
	push	%r12
	push	%r13
	mov	%rdi, %rbx
	mov	CALL_NUMBER(%rbx), %r12
	mov	CALL_ARGUMENT(0)(%rbx), %rdi
	mov	CALL_ARGUMENT(1)(%rbx), %rsi
	mov	CALL_ARGUMENT(3)(%rbx), %r10
	mov	CALL_ARGUMENT(4)(%rbx), %r8
	mov	CALL_ARGUMENT(5)(%rbx), %r9
	push	CALL_ARGUMENT(6)(%rbx)
	push	$0		# where a stub's return address is
\name\()_begin:
	rdtsc
	mov	%eax, %r13d
	mov	CALL_ARGUMENT(2)(%rbx), %rdx	# not before: rdtsc writes it
	mov	%r12, %rax
	\entry
	mov	%eax, %r12d
\name\()_end:
	rdtsc
	sub	%r13d, %eax
	mov	%eax, CALL_TICKS(%rbx)
	mov	%r12d, %eax
	add	$16, %rsp
	pop	%r13
	pop	%r12
	pop	%rbx
	ret
	.endm

	timed	timed, syscall
	timed	control

	.globl measure_begin, measure_end
measure_begin:
	ret
measure_end:
	ret

	.section .note.GNU-stack, "", @progbits

#include "call.h"

/* The kernel starts us here. All registers are 0, and the stack is aligned to 4. */
	.text
	.globl _start
_start:
	and	$-16, %esp
	call	main
	ud2			# main does not return

/*
 * uint32_t timed(struct call *call), uint32_t control(struct call *call)
 *
 * Mach's trap on the i386: the number in eax, and the arguments where a C caller put them, above the address that the stub returns to.
 * The kernel changes eax alone. NAME_begin and NAME_end are the two rdtsc.
 */
	.macro	timed name, entry:vararg
	.globl	\name, \name\()_begin, \name\()_end
\name:
	push	%ebx
	push	%esi
	push	%edi
	mov	16(%esp), %ebx
	.irp	n, 6, 5, 4, 3, 2, 1, 0
	push	CALL_ARGUMENT(\n)(%ebx)
	.endr
	push	$0		# where a stub's return address is
	mov	CALL_NUMBER(%ebx), %esi
\name\()_begin:
	rdtsc
	mov	%eax, %edi
	mov	%esi, %eax
	\entry
	mov	%eax, %esi
\name\()_end:
	rdtsc
	sub	%edi, %eax
	mov	%eax, CALL_TICKS(%ebx)
	mov	%esi, %eax
	add	$32, %esp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret
	.endm

	timed	timed, lcall $7, $0
	timed	control

	.globl measure_begin, measure_end
measure_begin:
	ret
measure_end:
	ret

	.section .note.GNU-stack, "", @progbits

/*
 * int rdmsr_safe(uint32_t msr, uint64_t *value)
 * int wrmsr_safe(uint32_t msr, uint64_t value)
 * Out: eax, 1; or 0 after a #GP, which a processor raises for a register or a value that it does not know (SDM vol. 2B, RDMSR and
 * WRMSR). Lost: ecx, edx.
 */

#include "entry/returns.h"

/* A fault at `at` goes on at `resume` (fixup.c). */
.macro FIXUP at, resume
	.pushsection .fixups, "a"
	.long	\at, \resume
	.popsection
.endm

	.text
	.globl	rdmsr_safe, wrmsr_safe
rdmsr_safe:
	mov	4(%esp), %ecx
1:	rdmsr
	FIXUP	1b, 3f
	mov	8(%esp), %ecx
	mov	%eax, (%ecx)
	mov	%edx, 4(%ecx)
	mov	$1, %eax
	RETURN

wrmsr_safe:
	mov	4(%esp), %ecx
	mov	8(%esp), %eax
	mov	12(%esp), %edx
2:	wrmsr
	FIXUP	2b, 3f
	mov	$1, %eax
	RETURN

3:	xor	%eax, %eax
	RETURN

	.section .note.GNU-stack, "", @progbits

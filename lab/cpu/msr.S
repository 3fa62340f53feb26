/*
 * int rdmsr_safe(uint32_t msr, uint64_t *value)
 * int wrmsr_safe(uint32_t msr, uint64_t value)
 * In: edi, rsi. Out: eax, 1; or 0 after a #GP, which a processor raises for a register or a value that it does not know
 * (SDM vol. 2B, RDMSR and WRMSR). Lost: rcx, rdx.
 */

#include "entry/returns.h"

/* A fault at `at` goes on at `resume` (fixup.c). */
.macro FIXUP at, resume
	.pushsection .fixups, "a"
	.quad	\at, \resume
	.popsection
.endm

	.text
	.globl	rdmsr_safe, wrmsr_safe
rdmsr_safe:
	mov	%edi, %ecx
1:	rdmsr
	FIXUP	1b, 3f
	shl	$32, %rdx
	mov	%eax, %eax
	or	%rdx, %rax
	mov	%rax, (%rsi)
	mov	$1, %eax
	RETURN

wrmsr_safe:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
2:	wrmsr
	FIXUP	2b, 3f
	mov	$1, %eax
	RETURN

3:	xor	%eax, %eax
	RETURN

	.section .note.GNU-stack, "", @progbits

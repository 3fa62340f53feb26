/*
 * As registers64.S, of 32-bit code: but the second picture, and what is before in r8 to r15 and in the upper halves of the
 * others, are seen from 64-bit code, to which far jumps lead.
 */
#include "case32.inc"
#include "picture32.inc"

.macro LOOK name
CASE \name
#if !PROTECTED
	ljmp	$USER_CODE_64, $1f
	.code64
1:	POISON_UPPER
	movl	$2f, to_32_bit_code(%rip)
	ljmp	*to_32_bit_code(%rip)
	.code32
2:
#endif
	mov	%esp, stack_before
	mov	number, %eax
	mov	$answer, %ebx
	xor	%ecx, %ecx
	mov	$POISON_OF(3), %edx
	mov	$POISON_OF(4), %esi
	mov	$POISON_OF(5), %edi
	mov	$POISON_OF(6), %ebp
	PREPARE_\name
	ENTER_\name
9:	SEE
.endm

seen:	jmp	done

.irp name, ENTRIES
LOOK \name
.endr

	.bss
	.balign	8
answer:	.skip	32

END_CASES

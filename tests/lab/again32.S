/* As again64.S, of 32-bit code. */
#include "case32.inc"

#define TIMES 256

.macro AGAIN name
CASE \name
	movl	$0, made
1:	mov	number, %eax
	mov	$answer, %ebx
	xor	%ecx, %ecx
	PREPARE_\name
	ENTER_\name
9:	mov	made, %ecx
	mov	%eax, answers(, %ecx, 8)
	incl	made
	cmpl	$TIMES, made
	jb	1b
	jmp	show
.endm
.irp name, ENTRIES
AGAIN \name
.endr

show:	mov	$1, %ebx
	mov	$answers, %ecx
	mov	$8 * TIMES, %edx
	SYSTEM_CALL NR_WRITE
	jmp	done

	.bss
	.balign	16
answer:	.skip	32
made:	.skip	16
answers:
	.skip	8 * TIMES

END_CASES

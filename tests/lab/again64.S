/*
 * Calls by each entry, again and again: argv[1] names the entry, argv[2] is the call's number. Writes what each call has answered, as
 * 64-bit words. The arguments are as in registers64.S.
 */
#include "case64.inc"

#define TIMES 256

.macro AGAIN name
CASE \name
	xor	%r12d, %r12d
1:	mov	number, %eax
	mov	$answer, %edi
	mov	$answer, %ebx
	xor	%esi, %esi
	xor	%ecx, %ecx
	PREPARE_\name
	ENTER_\name
9:	mov	%rax, answers(, %r12, 8)
	inc	%r12d
	cmp	$TIMES, %r12d
	jb	1b
	jmp	show
.endm
.irp name, ENTRIES
AGAIN \name
.endr

show:	mov	$1, %edi
	mov	$answers, %esi
	mov	$8 * TIMES, %edx
	SYSTEM_CALL NR_WRITE
	jmp	done

	.bss
	.balign	16
answer:	.skip	32
answers:
	.skip	8 * TIMES

END_CASES

/*
 * int limit_faults(word selector)
 * Reads the second byte of a segment that has one, in ring 0. Out: eax, 1 if that is a fault, as it is behind a limit (SDM vol. 3, 5.3); else 0.
 * Lost: FS.
 */
	.text
	.globl	limit_faults
limit_faults:
	mov	4(%esp), %eax
	mov	%eax, %fs
1:	mov	%fs:1, %al
	xor	%eax, %eax
	jmp	3f
2:	mov	$1, %eax
3:	xor	%ecx, %ecx
	mov	%ecx, %fs
	ret

	.pushsection .fixups, "a"
	.long	1b, 2b
	.popsection

	.section .note.GNU-stack, "", @progbits

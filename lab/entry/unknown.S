/*
 * long call_unknown_x86_64(void), call_unknown_i386(void): what every number that nobody serves leads to. The dispatcher
 * has left it in rax.
 */
	.text
	.globl	call_unknown_x86_64, call_unknown_i386
call_unknown_x86_64:
	mov	%eax, %edi
	mov	$64, %esi
	jmp	report_unknown_call
call_unknown_i386:
	mov	%eax, %edi
	mov	$32, %esi
	jmp	report_unknown_call

	.section .note.GNU-stack, "", @progbits

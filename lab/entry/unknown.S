/*
 * long call_unknown_x86_64(void), call_unknown_i386(void): called for every number that no system call has. The dispatcher
 * has left the number in rax.
 */
	.text
	.globl	call_unknown_x86_64, call_unknown_i386, call_none
	.balign	16
	endbr64				# where the tables point with ibt=on (calls.c)
call_none:				# a name for calls.def
call_unknown_x86_64:
	mov	%eax, %edi
	mov	$64, %esi
	jmp	report_unknown_call
	endbr64
call_unknown_i386:
	mov	%eax, %edi
	mov	$32, %esi
	jmp	report_unknown_call

	.section .note.GNU-stack, "", @progbits

/*
 * long call_unknown_i386(void), call_none: called for every number that no system call has. The dispatcher has left the number in
 * eax.
 */
	.text
	.globl	call_unknown_x86_64, call_unknown_i386, call_none
	.balign	16
	endbr32				# where the tables point with ibt=on (calls.c)
call_none:				# a name for calls.def
call_unknown_x86_64:			# no program has these numbers
call_unknown_i386:
	push	$32
	push	%eax
	call	report_unknown_call
	add	$8, %esp
	ret

	.section .note.GNU-stack, "", @progbits

/*
 * long peek_as_program(word address)
 * Reads a byte in ring 0 with the page tables that programs use under isolation. Only with pti=on, because the exception's
 * path must switch page tables. 1 when that is a page fault, because the kernel is not mapped; 0 when it could be read.
 */
#include "entry/steps.inc"

PATH peek_as_program, BY_KERNEL
STEP "go to a stack that is mapped"
	mov	4(%esp), %ecx
	pushf
	cli
	push	%ebx
	mov	%esp, %edx
	mov	$exit_stack_top, %esp
TO_PROGRAM_TABLES %eax, lost
STEP "read"
	xor	%eax, %eax
1:	mov	(%ecx), %bl
	FAULT	1b, 2f
	jmp	3f
2:	mov	$1, %eax
3:
TO_KERNEL_TABLES %ecx, lost
STEP "return"
	mov	%edx, %esp
	pop	%ebx
	popf
RETURN_FROM_PATH
END_PATH

	.section .note.GNU-stack, "", @progbits

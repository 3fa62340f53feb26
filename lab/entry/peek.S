/*
 * long peek_as_program(uint64_t address)
 * Reads a byte in ring 0 with the page tables that programs use under isolation. Only with pti=on, because the exception's
 * path must switch page tables. 1 when that is a page fault, because the kernel is not mapped; 0 when it could be read.
 */
#include "entry/steps.inc"

PATH peek_as_program, BY_KERNEL
STEP "go to a stack that is mapped"
	pushf
	cli
	mov	%rsp, %rdx
	mov	$exit_stack_top, %rsp
TO_PROGRAM_TABLES %rax, lost
STEP "read"
	xor	%eax, %eax
1:	mov	(%rdi), %dil
	FAULT	1b, 2f
	jmp	3f
2:	mov	$1, %eax
3:
TO_KERNEL_TABLES %rcx, lost
STEP "return"
	mov	%rdx, %rsp
	popf
RETURN_FROM_PATH
END_PATH

	.section .note.GNU-stack, "", @progbits

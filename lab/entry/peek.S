/*
 * long peek_as_program(uint64_t address)
 * Reads a byte in ring 0 with the page tables that programs use under isolation. Only with pti=on, because the exception's
 * path must switch page tables. 1 when that is a page fault, because the kernel is not mapped; 0 when it could be read.
 */
#include "entry/path.inc"

PATH peek_as_program
STEP "go to a stack that is mapped"
	pushf
	cli
	mov	%rsp, %rdx
	mov	%cr3, %rcx
	mov	$entry_stack_top, %rsp
STEP "PTI: switch to the program's page tables"
	mov	user_cr3, %rax
	mov	%rax, %cr3
STEP "read"
	xor	%eax, %eax
1:	mov	(%rdi), %dil
	FAULT	1b, 2f
	jmp	3f
2:	mov	$1, %eax
3:	mov	%rcx, %cr3
	mov	%rdx, %rsp
	popf
	ret
END_PATH

	.section .note.GNU-stack, "", @progbits

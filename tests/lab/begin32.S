/* What a 32-bit program finds when it begins. Layout: registers.rs. */
#define USER_CODE_32 0x23
#define USER_CODE_64 0x33
#define NR_EXIT	     1
#define NR_WRITE     4

#include "machine32.inc"
#include "picture32.inc"

	.globl	_start
_start:	mov	%esp, stack_before
	SEE

seen:	xor	%ebx, %ebx
	SYSTEM_CALL NR_EXIT

	.section .note.GNU-stack, "", @progbits

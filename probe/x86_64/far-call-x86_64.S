/*
 * lcall *to_32: a far call from 64-bit code to the code segment 0x23, which is one of 32 bits, and lret from there. cs and eip are pushed,
 * 4 bytes each (SDM vol. 2, CALL: far, operands of 32 bits), and the descriptor is read, which decides the mode of what follows. The
 * privilege level stays 3, and the kernel is not entered. Linux and the lab have these segments at the same selectors.
 * In: nothing. Out: eax, the code segment that was reached.
 *
 * 32-bit code has a stack below 4 GiB, and no more than the lower halves of eight registers: the upper halves are undefined
 * behind it, that of rsp, too, which both control and entry clear. r8 to r15 come back as they were (SDM vol. 1, 3.4.1.1), so that r15
 * keeps the stack pointer.
 */
#include "timed.inc"

	.section .rodata
	.balign	8
to_32:	.long	in_32
	.word	USER_CODE_32

	.text
	.code32
	.balign	16
in_32:	mov	%cs, %eax
	lret
	.code64

	.bss
	.balign	16
	.skip	64
low_stack_top:

.macro LOAD
	mov	%rsp, %r15
	mov	$low_stack_top, %esp
.endm
.macro ENTER
	lcall	*to_32
	mov	%esp, %esp
.endm
.macro CONTROL
	mov	%esp, %esp
.endm
.macro UNLOAD
	mov	%r15, %rsp
.endm

ENTRY far_call_x86_64

/* How 32-bit code goes to code of 16 bits, which calls what SIXTEEN_FUNCTION says, and comes back. */
#include "lab.h"
#include "layout.h"

#define USER_DATA 0x2b

/* Lost: nothing but what a C function may. */
.macro KEEP
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
.endm

.macro GIVE_BACK
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
	ret
.endm

/* void sixteen_by_v86(unsigned long ip, unsigned long flags): in virtual-8086 mode, by what an iret would pop (lab/i386/entry/v86_thread.h). */
	.text
	.globl	sixteen_by_v86
sixteen_by_v86:
	mov	4(%esp), %eax
	mov	8(%esp), %edx
	KEEP
	.rept	5			# gs, fs, ds, es, ss
	push	$(SIXTEEN_BASE / 16)
	.endr
	push	$SIXTEEN_STACK
	push	%edx
	push	$(SIXTEEN_BASE / 16)
	push	%eax
	int	$VECTOR_V86
	add	$36, %esp
	GIVE_BACK

/*
 * void sixteen_by_segments(unsigned long ip): in protected mode, by a far jump to a segment of 16 bits. In the upper half of esp, which a stack of
 * 16 bits does not use, is a number that the kernel has to keep.
 */
	.globl	sixteen_by_segments
sixteen_by_segments:
	mov	4(%esp), %eax
	mov	%eax, there
	KEEP
	mov	%esp, stack_here
	lss	stack_there, %esp
	push	%ss
	pop	%ds
	push	%ss
	pop	%es
	ljmp	*%cs:there
back:	lss	%cs:stack_here, %esp
	push	%ss
	pop	%ds
	push	%ss
	pop	%es
	GIVE_BACK

	.data
	.balign	8
there:	.long	0
	.word	SELECTOR_CODE_16
	.balign	8
stack_here:
	.long	0
	.word	USER_DATA
	.balign	8
stack_there:
	.long	0x5a070000 | SIXTEEN_STACK
	.word	SELECTOR_DATA_16

	.section sixteen, "ax"
	.code16
	.globl	sixteen_begin_v86, sixteen_begin_segments
sixteen_begin_v86:
	call	*SIXTEEN_FUNCTION
	int	$VECTOR_V86
sixteen_begin_segments:
	call	*SIXTEEN_FUNCTION
	ljmpl	$USER_CODE_32, $back

	.section .note.GNU-stack, "", @progbits

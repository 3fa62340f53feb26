/* As mach_bare64.S, of 32 bits. */
#include "mach.inc"

	.data
	.balign	4
	.globl	way, ways
way:	.long	0
ways:

	.text
	.globl	_start
_start:	mov	%esp, %eax
	and	$-16, %esp
	sub	$12, %esp
	push	%eax
	call	begin

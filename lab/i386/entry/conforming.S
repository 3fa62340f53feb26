/*
 * The page of the conforming code segment, which programs may execute: it is the kernel's code, and runs in the ring of whoever comes here (SDM vol. 3,
 * 5.8.1.2). The segment begins here, so that what is here has offsets of 16 bits. abi/lab.h has the offsets that programs know.
 *
 * A call gate of 16 bits keeps no more of eip: a program calls it from here. ebp points to a far pointer to where it goes on; esp is its own, as
 * far as 16 bits of it have been kept.
 */
#include "lab.h"

.macro AT offset
	.org	conforming_page + \offset, 0xcc
.endm

/* The entry of that name executes what stands between the next 95 and the next 96, in ring 3: listings of it have that, and say what it does. */
.macro FOR_PROGRAMS entry, what
	.pushsection .rodata.step_names, "a"
97:	.asciz	"\entry"
98:	.asciz	"\what"
	.popsection
	.pushsection .code_for_programs, "a"
	.long	97b, 95f, 96f, 98b, 32
	.popsection
.endm

.macro CALL_16 offset, selector
	AT	\offset
	lcall	$\selector, $0
	ljmp	*(%ebp)
.endm

	.section .conforming, "ax"
	.balign	4096, 0xcc
	.globl	conforming_page
conforming_page:
	FOR_PROGRAMS "conforming", "answer CS, and return"
	AT	CONFORMING_CALL
95:	mov	%cs, %eax
	lret
96:
	FOR_PROGRAMS "jmp-gate", "answer CS, and jump back"
	FOR_PROGRAMS "jmp-gate-16", "answer CS, and jump back"
	AT	CONFORMING_JUMP
95:	mov	%cs, %eax
	ljmp	*(%ebp)
96:
	AT	CONFORMING_BACK
	ljmp	*(%ebp)
	CALL_16	CONFORMING_GATE_16_0, SELECTOR_GATE_16_0
	CALL_16	CONFORMING_GATE_16_1, SELECTOR_GATE_16_1
	CALL_16	CONFORMING_GATE_16_8, SELECTOR_GATE_16_8
	.balign	4096, 0xcc

	.section .note.GNU-stack, "", @progbits

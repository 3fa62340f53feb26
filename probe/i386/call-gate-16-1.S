/*
 * lcall through a call gate of 16 bits that copies one word from stack to stack (SDM vol. 3, 5.8.5, 21.4). The gate keeps 16 bits of eip and esp, so the
 * call is made in the lab's conforming code segment, which begins at its page: a far jump there, the call, and a far jump back; then esp is loaded
 * anew.
 * In: eax number; ebx, ecx, edx; ebp the far pointer back, since no operation has so many arguments. Out: eax.
 * CONTROL jumps there and back without the call, and does all else.
 */
#include "lab.h"
#include "timed.inc"

#define COPIED 1

	.data
	.balign	8
way_back:
	.long	0
	.word	USER_CODE_32
	.balign	4
stack:	.long	0

.macro GO_TO offset
	mov	%esp, stack
	movl	$9f, way_back
	.rept	COPIED
	pushw	$0x5a5a
	.endr
	ljmp	$SELECTOR_CONFORMING, $\offset
9:	mov	stack, %esp
.endm

.macro LOAD
	LOAD_INT80
	mov	$way_back, %ebp
.endm
.macro ENTER
	GO_TO	CONFORMING_GATE_16_1
.endm
.macro CONTROL
	GO_TO	CONFORMING_BACK
.endm
.macro UNLOAD
.endm

ENTRY call_gate_16_1

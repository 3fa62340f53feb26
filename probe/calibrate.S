/*
 * void calibrate(uint64_t stamps_out[5])
 *
 * What the other figures are measured against, each between two stamps:
 *	0-1 nothing, 1-2 the imul chain, 2-3 a chain of xor, 3-4 many independent nots (the canary).
 * A dependent chain has a known latency and does not notice a busy hyperthread sibling; the nots fill every
 * execution port, so that their rate falls when a sibling takes some. They are a loop in a place of its own (canary.S).
 */
#include "timed.inc"

	.text
	.balign 64
	.globl calibrate
	.type calibrate, @function
calibrate:
	SAVE
	GET_ARGUMENTS
	movl	$TURNS, canary_turns
	STAMP	0
	STAMP	1
	CHAIN
	STAMP	2
	.rept XORS
	xor	%eax, %ecx	# waits for the ecx of the one before; a register with itself would not wait
	.endr
	STAMP	3
	jmp	*canary_place
	.globl canary_done
canary_done:
	STAMP	4
	mov	sample_out, %POINTER
	.irp	offset, 0, 4, 8, 12, 16, 20, 24, 28, 32, 36
	mov	stamps + \offset, %eax
	mov	%eax, \offset(%POINTER)
	.endr
	RESTORE
	ret
	.size calibrate, . - calibrate

/*
 * void order(struct sample *out)
 *
 * Between stamps 0 and 1 nothing, between 1 and 2 one clock chain, between 2 and 3 CHAINS of them, each imul waiting for
 * the one before. Whether the two agree tells if a stamp waits for the chain before it (RECORD_ORDER).
 */
	.balign 64
	.globl order
	.type order, @function
order:
	SAVE
	GET_ARGUMENTS
	STAMP	0
	STAMP	1
	CHAIN
	STAMP	2
	.rept CHAINS
	CHAIN
	.endr
	STAMP	3
	TAKE
	RESTORE
	ret
	.size order, . - order

	.section .note.GNU-stack, "", @progbits

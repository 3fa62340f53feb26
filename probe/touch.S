/*
 * void touch_footprint(void)
 * Follows the chain of a footprint (footprint.c): each load tells the address of the next, so that none begins before the one before it
 * is done. Changes the pointer register and the flags.
 *
 * It is the same code behind controls and behind entries, so that what the core has learned of its branches holds for both. With a
 * copy in either interval, an entry was dearer by a branch that was guessed wrongly.
 */
#include "timed.inc"

	.text
	.balign 64
	.globl touch_footprint
	.type touch_footprint, @function
touch_footprint:
	lfence			# the first not before the control, or the entry, is done
	mov	footprint, %POINTER
1:	mov	(%POINTER), %POINTER
	test	%POINTER, %POINTER
	jnz	1b
	ret
	.size touch_footprint, . - touch_footprint

	.section .note.GNU-stack, "", @progbits

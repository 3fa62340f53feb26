/*
 * void (*const canary_places[CANARY_PLACES])(void)
 *
 * The canary: NOTS independent nots between calibrate's stamps 3 and 4. calibrate jumps to one of these places, drawn once
 * for a process, with the number of turns in canary_turns; the place jumps back to canary_done. Changes all general
 * registers but the stack pointer, and the flags.
 *
 * It is to feel the execution ports that a neighbour on the same core takes, and nothing else. So it is a loop of 84
 * instructions. Straight code of the same length comes from the decoders whenever it has left the op cache, and a Zen 5
 * then issues four nots in a cycle instead of five, as if the core were shared. 84 nots are 168 bytes, which take 11 to 18
 * lines of an op cache that has hundreds; they are too many for the loop buffers of Intel's cores, whose op cache or
 * decoders bring as many instructions as the ports take, and enough to hide the counter's way through memory. What a
 * processor without an op cache (Nehalem) decodes in a cycle, sixteen bytes, are eight nots; it executes three.
 *
 * That the place in memory matters little is not assumed but seen (docs/adr/0008): all places lie in one page, at different
 * offsets in their cache line, and a round says which it had (FACT_CANARY). At none of them does the jump touch the end of
 * 32 bytes: the microcode of Skylake and its descendants keeps such a jump, and what stands beside it, out of the op cache (Intel,
 * "Mitigations for Jump Conditional Code Erratum").
 */
#include "timed.inc"

	.macro PLACES what
	.irp	offset, 0, 1, 4, 7, 8, 10, 18, 21, 24, 27, 31, 32, 37, 40, 52, 58
	\what	\offset
	.endr
	.endm

	.macro PLACE offset
	.balign 256
	.skip	\offset
	.type place_\offset, @function
place_\offset:
	.rept	NOTS / TURNS / 7
	.irp	register, eax, ebx, ecx, edx, esi, edi, ebp
	not	%\register
	.endr
	.endr
	decl	canary_turns
	jnz	place_\offset
	jmp	canary_done
	.size place_\offset, . - place_\offset
	.endm

	.macro ADDRESS offset
#ifdef __x86_64__
	.quad	place_\offset
#else
	.long	place_\offset
#endif
	.endm

	.text
	.balign 4096
	PLACES	PLACE

	.section .rodata
	.balign 8
	.globl canary_places
canary_places:
	PLACES	ADDRESS

	.bss
	.balign 64
	.globl canary_turns
canary_turns:
	.skip	4

	.section .note.GNU-stack, "", @progbits

/* observe=on: collects the flags with which a gate enters the kernel, so that IF is seen; before anything changes them. */
#include "entry/path.inc"

ATTACH IN_EARLY, 10
STEP "observe the flags", SWITCH_OBSERVE, IS(OBSERVE_ON), ENTERED_BY, IS(BY_INTERRUPT)|IS(BY_CALL_GATE)
	pushf
	push	%AX
	mov	WORD_BYTES(%SP), %AX
	or	%AX, AT(observed_flags)
	pop	%AX
	popf
END_ATTACH

	.section .note.GNU-stack, "", @progbits

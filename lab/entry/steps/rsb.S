/*
 * rsb=N: between address spaces, N calls without returns fill the return stack buffer with addresses behind which speculation stops. Two
 * in a turn, as Linux has them (__FILL_RETURN_BUFFER, arch/x86/include/asm/nospec-branch.h; 32 of them at each switch of
 * threads): an odd N fills one more.
 */
#include "entry/path.inc"

ATTACH AT_SWITCH, 40
STEP "fill the return stack buffer", SWITCH_RSB, NOT(0)
	mov	$PARAMETER_VALUE, %ecx
	PARAMETER SWITCH_RSB
1:	call	2f
	int3
2:	call	3f
	int3
3:	add	$2*WORD_BYTES, %SP
	sub	$2, %ecx
	ja	1b
	lfence				# the loop's last branch may be predicted wrong
END_ATTACH

	.section .note.GNU-stack, "", @progbits

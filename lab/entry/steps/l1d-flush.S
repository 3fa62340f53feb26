/*
 * l1d-flush=on: the first data cache is written back and emptied between address spaces, so that nothing of one can be sampled there by
 * the next. Linux: l1d_flush_evaluate (arch/x86/mm/tlb.c, since 5.15), for programs that ask for it by prctl.
 */
#include "entry/path.inc"

ATTACH AT_SWITCH, 30
STEP "flush the first data cache", SWITCH_L1D_FLUSH, IS(L1D_FLUSH_ON)
	mov	$MSR_FLUSH_CMD, %ecx
	mov	$FLUSH_CMD_L1D, %eax
	xor	%edx, %edx
	wrmsr
END_ATTACH

	.section .note.GNU-stack, "", @progbits

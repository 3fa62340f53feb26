/*
 * ibpb=on: a barrier between address spaces. What one has taught the predictors of indirect branches does not steer the next.
 * Linux: indirect_branch_prediction_barrier, called by cond_mitigation (arch/x86/mm/tlb.c).
 */
#include "entry/path.inc"
#include "entry/speculation.inc"

ATTACH AT_SWITCH, 20
STEP "IBPB", SWITCH_IBPB, IS(IBPB_ON)
	IBPB
END_ATTACH

	.section .note.GNU-stack, "", @progbits

#include "entry/call-gate-16.inc"

CALL_GATE_16 call_gate_16_0_i386, 0

	.section .note.GNU-stack, "", @progbits

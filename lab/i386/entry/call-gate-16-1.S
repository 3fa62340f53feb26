#include "entry/call-gate-16.inc"

CALL_GATE_16 call_gate_16_1_i386, 1

	.section .note.GNU-stack, "", @progbits

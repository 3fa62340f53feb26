#include "entry/call-gate-16.inc"

CALL_GATE_16 call_gate_16_8_i386, 8

	.section .note.GNU-stack, "", @progbits

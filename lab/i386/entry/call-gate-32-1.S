#include "entry/call-gate.inc"

CALL_GATE call_gate_32_1_i386, 1

	.section .note.GNU-stack, "", @progbits

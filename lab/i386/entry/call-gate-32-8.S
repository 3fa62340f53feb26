#include "entry/call-gate.inc"

CALL_GATE call_gate_32_8_i386, 8

	.section .note.GNU-stack, "", @progbits

/* GDT 0x60; and entry 0 of the LDT, selector 7, where System V for the 386 had its gate, and so did the systems that ran its programs. */
#include "entry/call-gate.inc"

CALL_GATE call_gate_i386, 0

	.section .note.GNU-stack, "", @progbits

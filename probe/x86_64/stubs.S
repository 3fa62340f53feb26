/* Stubs of 64-bit code. */
#include "stub.inc"

.macro GATE
	mov	%rcx, %r10
	syscall
	ret
.endm

STUB mach_msg_gate, 25, GATE
STUB mach_print_gate, 30, GATE
STUB mach_msg_page, 25, PAGE
STUB mach_print_page, 30, PAGE

	.section .note.GNU-stack, "", @progbits

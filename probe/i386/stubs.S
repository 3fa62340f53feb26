/* Stubs of 32-bit code, whose arguments are all on the stack. */
#include "stub.inc"

.macro GATE
	lcall	$7, $0
	ret
.endm

/* Behind it the landing pad of the vDSO goes on, which pops what is pushed here, and returns. */
.macro BY_SYSENTER
	push	%ecx
	push	%edx
	push	%ebp
	mov	%esp, %ebp
	sysenter
.endm

STUB mach_msg_gate, 25, GATE
STUB mach_print_gate, 30, GATE
STUB mach_msg_sysenter, 25, BY_SYSENTER
STUB mach_print_sysenter, 30, BY_SYSENTER
STUB mach_msg_page, 25, PAGE
STUB mach_print_page, 30, PAGE

	.section .note.GNU-stack, "", @progbits

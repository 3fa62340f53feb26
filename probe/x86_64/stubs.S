/*
 * Functions that make a trap of GNU Mach, in the form of its own library's: C's arguments, and the number in eax. The one enters by
 * itself, as GNU Mach's do; the other goes on in the page of the device `entry`, to which the return address is its caller's.
 */
.macro STUB name, number, how
	.text
	.balign 16
	.globl	\name
	.type	\name, @function
\name:
	mov	$-\number, %eax
	\how
	.size	\name, . - \name
.endm

.macro GATE
	mov	%rcx, %r10
	syscall
	ret
.endm

.macro PAGE
	jmp	*mach_entry_call
.endm

STUB mach_msg_gate, 25, GATE
STUB mach_print_gate, 30, GATE
STUB mach_msg_page, 25, PAGE
STUB mach_print_page, 30, PAGE

	.bss
	.balign	8
	.globl	mach_entry_call
mach_entry_call:
	.skip	8

	.section .note.GNU-stack, "", @progbits

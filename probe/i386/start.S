#include "linux.h"

/* The kernel starts us here with argc, argv, envp and the auxiliary vector on the stack (System V i386 ABI, 2.3.1). */
	.text
	.globl _start
_start:
	xor	%ebp, %ebp
	mov	%esp, %eax
	and	$-16, %esp
	sub	$12, %esp
	push	%eax
	call	probe_main
	ud2			# probe_main does not return

/* long mach_trap(long number, const unsigned long arguments[11]): they lie behind a return address (LOAD_TRAP). */
	.globl mach_trap
mach_trap:
	push	%ebx
	mov	8(%esp), %eax
	mov	12(%esp), %ebx
	.irp	at, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0
	push	\at(%ebx)
	.endr
	push	$0
	int	$0x80
	add	$48, %esp
	pop	%ebx
	ret

/* void signal_return(void): what a handler returns to (rt_sigaction's SA_RESTORER). */
	.globl signal_return
signal_return:
	mov	$173, %eax	# rt_sigreturn
	int	$0x80

	.section .note.GNU-stack, "", @progbits

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

/* void signal_return(void): what a handler returns to (rt_sigaction's SA_RESTORER). */
	.globl signal_return
signal_return:
	mov	$173, %eax	# rt_sigreturn
	int	$0x80

	.section .note.GNU-stack, "", @progbits

/*
 * The part of linux-gate.so.1 whose offsets the kernel knows: __kernel_vsyscall, as int $0x80 until the kernel has
 * copied another variant over it, and the returns from signal handlers.
 */
#include "machine.h"
#include "vdso/gateway.inc"

	.section .gateway, "ax", @progbits
	.globl	__kernel_vsyscall, gateway
	.type	__kernel_vsyscall, @function
	.hidden	gateway		# so that calls from within need no -Bsymbolic
start:
__kernel_vsyscall:
gateway:
	VARIANT_INT80 start
	.size	__kernel_vsyscall, . - __kernel_vsyscall

/* Where a handler returns to. In: esp points to the signal number, the frame behind it. */
	.org	start + VDSO32_SIGRETURN - VDSO32_GATEWAY, INT3
	.globl	__kernel_sigreturn
	.type	__kernel_sigreturn, @function
__kernel_sigreturn:
	pop	%eax
	mov	$NR_SIGRETURN, %eax
	int	$0x80
	.size	__kernel_sigreturn, . - __kernel_sigreturn

/* The same for SA_SIGINFO. In: esp points to the frame. */
	.org	start + VDSO32_RT_SIGRETURN - VDSO32_GATEWAY, INT3
	.globl	__kernel_rt_sigreturn
	.type	__kernel_rt_sigreturn, @function
__kernel_rt_sigreturn:
	mov	$NR_RT_SIGRETURN, %eax
	int	$0x80
	.size	__kernel_rt_sigreturn, . - __kernel_rt_sigreturn

/* For the linker script. */
	.globl	gateway_offset
	.hidden	gateway_offset
	.set	gateway_offset, VDSO32_GATEWAY

	.section .note.GNU-stack, "", @progbits

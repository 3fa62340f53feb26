/* The variants of __kernel_vsyscall, for the kernel to copy into linux-gate.so.1: data to the kernel, 32-bit code. */
#define GATEWAY_IS_DATA
#include "vdso/gateway.inc"

	.section .rodata
	.code32

	.globl	gateway_int80, gateway_int80_end
	.balign	GATEWAY_SIZE
gateway_int80:
	VARIANT_INT80 gateway_int80
gateway_int80_end:

	.globl	gateway_sysenter, gateway_sysenter_end
gateway_sysenter:
	VARIANT_SYSENTER gateway_sysenter
gateway_sysenter_end:

	.globl	gateway_syscall, gateway_syscall_end
gateway_syscall:
	VARIANT_SYSCALL gateway_syscall
gateway_syscall_end:

	.section .note.GNU-stack, "", @progbits

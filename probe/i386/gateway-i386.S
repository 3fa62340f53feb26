/*
 * call *target, the target being __kernel_vsyscall (AT_SYSINFO): sysenter, syscall or int $0x80, as the kernel chose.
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	call	*invocation + INVOCATION_TARGET
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY gateway_i386

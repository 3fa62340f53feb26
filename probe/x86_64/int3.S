/*
 * int3: #BP, a trap: the saved rip is already past it (SDM vol. 3, 6.15). Linux delivers SIGTRAP.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 * The lab serves it as a system call. In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	int3
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY int3

/*
 * lock nop: #UD because nop takes no lock prefix (SDM vol. 2, LOCK). As bytes, since the assembler refuses it.
 * Linux delivers SIGILL; the handler (fault.c) skips the two bytes.
 * In: nothing. Out: nothing. Changes nothing: rt_sigreturn restores every register.
 * The lab serves it as a system call, and goes on behind it. In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	.byte	0xf0, 0x90
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY lock_nop

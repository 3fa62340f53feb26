/*
 * syscall: rcx = rip, r11 = rflags, rflags &= ~IA32_FMASK, cs and ss from IA32_STAR, rip = IA32_LSTAR; no stack
 * switch (SDM vol. 2, SYSCALL).
 * In: eax number; rdi, rsi, rdx. Out: rax. Changes rcx, r11.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	syscall
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY syscall_x86_64

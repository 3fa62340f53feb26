/*
 * syscall with bit 30 set in the number: Linux takes it as an x32 call, with 32-bit pointers.
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

ENTRY syscall_x32

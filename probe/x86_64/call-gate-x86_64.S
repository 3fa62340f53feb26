/*
 * lcall *gate: a far call through the 64-bit call gate at 0x50 of the lab's GDT, asked for with RPL 3. ss, rsp, cs and rip
 * are pushed, 8 bytes each, on the stack from TSS.RSP0; the flags are not, and IF stays as it was (SDM vol. 3, 5.8.3.1).
 * The kernel takes x86-64 numbers and goes back by lretq.
 * In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "lab.h"
#include "timed.inc"

/* 64-bit code has the far call only through memory (SDM vol. 2, CALL): offset, which a gate ignores, and selector. */
	.section .rodata
	.balign	8
gate:	.long	0
	.word	SELECTOR_GATE_X86_64

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	lcall	*gate
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY call_gate_x86_64

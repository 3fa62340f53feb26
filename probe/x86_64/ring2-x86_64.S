/*
 * lcall *gate: a far call through the call gate at 0xc0 of the lab's GDT to ring 2, where the kernel's own code goes on through another one to
 * ring 1, and from there through a third to ring 0. At each boundary ss, rsp, cs and rip are pushed, 8 bytes each, on the stack of the ring that is entered, which the TSS
 * names; the flags are not, and IF stays as it was (SDM vol. 3, 5.8.3.1). It comes back by lretq from ring to ring.
 * In: eax number; rdi, rsi, rdx. Out: rax.
 */
#include "lab.h"
#include "timed.inc"

/* 64-bit code has the far call only through memory (SDM vol. 2, CALL): offset, which a gate ignores, and selector. */
	.section .rodata
	.balign	8
gate:	.long	0
	.word	SELECTOR_GATE_RING2

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

ENTRY ring2_x86_64

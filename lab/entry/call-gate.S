/*
 * A far call through a 64-bit call gate, from 64-bit and from 32-bit code (SDM vol. 3, 5.8.3.1, 5.8.5.1). Three gates:
 * GDT 0x50 with x86-64 call numbers, GDT 0x60 with i386 call numbers, and entry 0 of the LDT, selector 7, where System V
 * for the 386 had its gate, and so did the systems that ran its programs.
 *
 * The hardware has: switched to the entry stack (TSS.RSP0) and pushed ss, rsp, cs, rip; loaded a null ss. It has not
 * pushed rflags nor changed them: IF, TF, NT, DF and AC are the program's. Page tables are the program's.
 * In: as syscall (x86-64 numbers), or as int $0x80 (i386 numbers). Out: rax. Lost: nothing; with stack=minimum the
 * arithmetic flags, DF and AC. With exit=iret, a program that has set NT is ended.
 * Back: lretq, which takes rip, cs, rsp, ss.
 */
#include "entry/steps.inc"

.macro CALL_GATE name, abi
PATH \name, BY_CALL_GATE, \abi
STEP "keep the flags, which the hardware has not pushed", SWITCH_STACK, IS(STACK_FRAME)
	pushf
GATE_IN
SERVE \abi
GATE_OUT
HOOK OUT_LATE
STEP "restore the flags", SWITCH_STACK, IS(STACK_FRAME)
	popf
STEP "lret", SWITCH_EXIT, IS(EXIT_NATURAL)
1:	lretq
	FAULT	1b, 0
STEP "push a frame for iret", SWITCH_EXIT, IS(EXIT_IRET)
	push	CALL_SS(%rsp)
	push	CALL_RSP + 8(%rsp)
	pushf
	push	CALL_CS + 24(%rsp)
	push	CALL_RIP + 32(%rsp)
STEP "iret", SWITCH_EXIT, IS(EXIT_IRET)
1:	iretq
	FAULT	1b, 0
SERVE_RARE
END_PATH
.endm

CALL_GATE call_gate_x86_64, X86_64
CALL_GATE call_gate_i386, I386

	.section .note.GNU-stack, "", @progbits

/*
 * A far call through a 32-bit call gate (SDM vol. 3, 5.8.3, 5.8.5), from 32-bit code: GDT 0x60, and entry 0 of the LDT, selector 7, where
 * System V for the 386 had its gate, and so did the systems that ran its programs. The gate copies no parameters.
 *
 * The hardware has: switched to the entry stack (TSS: ss0, esp0) and pushed ss, esp, cs, eip. It has not pushed eflags nor changed
 * them: IF, TF, NT, DF and AC are the program's, and so are DS, ES, FS and GS. Page tables are the program's.
 * In: as int $0x80. Out: eax. Lost: nothing; with stack=minimum the arithmetic flags, DF and AC. With exit=iret, a program that has set
 * NT is ended: its iret would be a return to another task.
 * Back: lret, which takes eip, cs, esp, ss.
 */
#include "entry/steps.inc"

PATH call_gate_i386, BY_CALL_GATE, I386
STEP "keep the flags, which the hardware has not pushed", SWITCH_STACK, IS(STACK_FRAME)
	pushf
GATE_IN
SERVE
GATE_OUT
HOOK OUT_LATE
STEP "restore the flags", SWITCH_STACK, IS(STACK_FRAME)
	popf
STEP "lret", SWITCH_EXIT, IS(EXIT_NATURAL)
1:	lret
	FAULT	1b, 0
STEP "push a frame for iret", SWITCH_EXIT, IS(EXIT_IRET)
	push	CALL_SS(%esp)
	push	CALL_SP + 4(%esp)
	pushf
	push	CALL_CS + 12(%esp)
	push	CALL_IP + 16(%esp)
STEP "iret", SWITCH_EXIT, IS(EXIT_IRET)
1:	iret
	FAULT	1b, 0
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * int $0x80, from 64-bit and from 32-bit code, through an interrupt gate or a trap gate (SDM vol. 3, 6.12.1).
 *
 * The hardware has: switched to the entry stack (TSS.RSP0) and pushed ss, rsp, rflags, cs, rip; cleared TF, NT, and
 * through an interrupt gate IF. AC and DF are the program's. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi, ebp. Out: eax, sign-extended. Lost: nothing.
 * Back: iretq, whatever the switch `exit` says.
 */
#include "entry/steps.inc"

PATH int80, BY_INTERRUPT, I386
GATE_IN
SERVE I386
GATE_IRET
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

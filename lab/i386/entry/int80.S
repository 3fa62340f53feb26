/*
 * int $0x80 through an interrupt gate or a trap gate (SDM vol. 3, 6.12.1).
 *
 * The hardware has: switched to the entry stack (TSS: ss0, esp0) and pushed ss, esp, eflags, cs, eip; cleared TF, NT, RF, VM, and
 * through an interrupt gate IF. AC and DF are the program's, and so are DS, ES, FS and GS. Page tables are the program's.
 * In: eax number; ebx, ecx, edx, esi, edi, ebp. Out: eax. Lost: nothing.
 * Back: iret, whatever the switch `exit` says.
 */
#include "entry/steps.inc"

PATH int80, BY_INTERRUPT, I386
GATE_IN
SERVE
GATE_IRET
SERVE_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

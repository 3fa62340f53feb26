/*
 * rdtscp: edx:eax = the time stamp counter, ecx = IA32_TSC_AUX, once all before it has executed (SDM vol. 2, RDTSCP).
 * Out: eax, edx, ecx. Changes rax, rcx, rdx.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	rdtscp
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY rdtscp

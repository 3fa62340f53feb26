/*
 * rdtsc: edx:eax = the time stamp counter (SDM vol. 2, RDTSC).
 * Out: eax, edx. Changes rax, rdx.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	rdtsc
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY rdtsc

/*
 * rdpid: rax = IA32_TSC_AUX, where Linux keeps the CPU's number (SDM vol. 2, RDPID).
 * Out: rax.
 */
#include "timed.inc"

.macro LOAD
.endm
.macro ENTER
	rdpid	%rax
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY rdpid

/*
 * lcall $0x63, $0: a far call through the 64-bit call gate at 0x60 of the lab's GDT, asked for with RPL 3; the offset is
 * ignored. ss, esp, cs and eip are pushed, 8 bytes each, on the stack from TSS.RSP0; the flags are not, and IF stays as
 * it was (SDM vol. 3, 5.8.3.1). The kernel takes i386 numbers and goes back by lretq.
 * In: eax number; ebx, ecx, edx. Out: eax.
 */
#include "lab.h"
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	lcall	$SELECTOR_GATE_I386, $0
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY call_gate_i386

/*
 * lcall $7, $0: a far call through LDT entry 0, a call gate on systems that had iBCS; the offset is ignored then
 * (SDM vol. 3, 5.8.3). Without a gate there: #GP with the selector as error code.
 * In: eax number. Out: eax.
 */
#include "timed.inc"

.macro LOAD
	LOAD_INT80
.endm
.macro ENTER
	lcall	$7, $0
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY lcall7_i386

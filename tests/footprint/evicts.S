/* An entry whose eviction is known: it calls a function that throws lines out of the caches. */
#include "timed.inc"

.macro LOAD
	LOAD_FUNCTION
.endm
.macro ENTER
	call	evict
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY evicts

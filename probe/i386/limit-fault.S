/*
 * lodsb %fs:(%esi) beyond the limit of FS: #GP, a fault (SDM vol. 3, 5.3). The lab has a segment of one byte, serves this as a system call, and
 * skips its two bytes; al and esi keep their values.
 * In: eax number; ebx, ecx, edx; esi an offset in FS, and ebp its selector, since no operation has so many arguments. Out: eax.
 */
#include "lab.h"
#include "timed.inc"

.macro LOAD
	LOAD_INT80
	mov	$1, %esi
	mov	$SELECTOR_LIMIT, %ebp
	mov	%ebp, %fs
.endm
.macro ENTER
	lodsb	%fs:(%esi)
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY limit_fault

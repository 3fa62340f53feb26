/* turns.inc in 32-bit code. There an entry loses nothing but eax, and it is 64-bit code that takes the picture. */
#include "case32.inc"
#include "picture32.inc"

#define CHANGED_BY_ENTRIES ecx, edx

.macro LOAD_KEPT
	mov	%esp, stack_before
	mov	$POISON_OF(1), %ebx
	mov	$POISON_OF(2), %ecx
	mov	$POISON_OF(4), %esi
	mov	$POISON_OF(5), %edi
	mov	$POISON_OF(6), %ebp
.endm

.macro SHOW
	ljmp	$USER_CODE_64, $see
.endm

#include "turns.inc"

seen:	jmp	done

	.bss
	.balign	4
noted:	.skip	12
noted_none:
	.skip	12
noted_mach:
	.skip	12

END_CASES

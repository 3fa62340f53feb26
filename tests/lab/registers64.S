/*
 * Every register before and after an entry: argv[1] names the entry, argv[2] is the call's number. Writes two pictures of the
 * registers and the address behind the entry's instruction; the layout is that of registers.rs.
 *
 * The first argument of every ABI points to a place for an answer, the second is 0.
 */
#include "case64.inc"
#include "picture64.inc"

.macro LOOK name, second
CASE \name
	POISON
	mov	number, %eax
	mov	$answer, %edi
	mov	$answer, %ebx
	xor	%\second, %\second
	PREPARE_\name
	movq	$9f, picture_behind
	PICTURE	picture_before
	ENTER_\name
9:	PICTURE	picture_after
	jmp	show
.endm
.irp name, NATIVE_ENTRIES
LOOK \name, esi
.endr
.irp name, I386_ENTRIES
LOOK \name, ecx
.endr

show:	mov	$1, %edi
	mov	$picture_before, %esi
	mov	$pictures_end - picture_before, %edx
	SYSTEM_CALL NR_WRITE
	jmp	done

	.bss
	.balign	16
answer:	.skip	32
picture_before:
	.skip	PICTURE_BYTES
picture_after:
	.skip	PICTURE_BYTES
picture_behind:
	.skip	8
pictures_end:

END_CASES

/*
 * Every register before and after an entry: argv[1] names the entry, argv[2] is the call's number. Writes two pictures of the
 * registers and the address behind the entry's instruction; the layout is that of registers.rs.
 *
 * The first argument of every ABI points to a place for an answer, the second is 0.
 */
#include "case64.inc"
#include "entries64.inc"
#include "picture64.inc"

.macro POISON
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movabs	$0x5a105a105a105a10 + \i, %rcx
	movq	%rcx, %xmm\i
	punpcklqdq %xmm\i, %xmm\i
	.endr
	movabs	$0x5a025a025a025a02, %rcx
	movabs	$0x5a035a035a035a03, %rdx
	movabs	$0x5a065a065a065a06, %rbp
	movabs	$0x5a085a085a085a08, %r8
	movabs	$0x5a095a095a095a09, %r9
	movabs	$0x5a0a5a0a5a0a5a0a, %r10
	movabs	$0x5a0b5a0b5a0b5a0b, %r11
	movabs	$0x5a0c5a0c5a0c5a0c, %r12
	movabs	$0x5a0d5a0d5a0d5a0d, %r13
	movabs	$0x5a0e5a0e5a0e5a0e, %r14
	movabs	$0x5a0f5a0f5a0f5a0f, %r15
.endm

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
LOOK syscall, esi
LOOK sysenter, esi
LOOK call_gate, esi
LOOK ud, esi
LOOK lock_nop, esi
LOOK int3, esi
LOOK div0, esi
LOOK int80, ecx
LOOK call_gate_i386, ecx

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

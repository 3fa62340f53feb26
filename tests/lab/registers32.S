/*
 * As registers64.S, of 32-bit code: but the second picture, and what is before in r8 to r15 and in the upper halves of the
 * others, are seen from 64-bit code, to which far jumps lead.
 */
#include "case32.inc"
#include "entries32.inc"
#include "picture32.inc"

#define PICTURE_BYTES 184

.macro LOOK name
CASE \name
	ljmp	$USER_CODE_64, $1f
	.code64
1:	movabs	$0x5a085a085a085a08, %r8
	movabs	$0x5a095a095a095a09, %r9
	movabs	$0x5a0a5a0a5a0a5a0a, %r10
	movabs	$0x5a0b5a0b5a0b5a0b, %r11
	movabs	$0x5a0c5a0c5a0c5a0c, %r12
	movabs	$0x5a0d5a0d5a0d5a0d, %r13
	movabs	$0x5a0e5a0e5a0e5a0e, %r14
	movabs	$0x5a0f5a0f5a0f5a0f, %r15
	movl	$2f, to_32_bit_code(%rip)
	ljmp	*to_32_bit_code(%rip)
	.code32
2:	mov	%esp, stack_before
	mov	number, %eax
	mov	$answer, %ebx
	xor	%ecx, %ecx
	mov	$0x5a035a03, %edx
	mov	$0x5a045a04, %esi
	mov	$0x5a055a05, %edi
	mov	$0x5a065a06, %ebp
	PREPARE_\name
	ENTER_\name
9:	ljmp	$USER_CODE_64, $see
.endm

seen:	jmp	done

LOOK int80
LOOK sysenter
LOOK syscall
LOOK gateway
LOOK call_gate
LOOK lcall7
LOOK ud
LOOK lock_nop
LOOK int3
LOOK div0

	.bss
	.balign	8
answer:	.skip	32

END_CASES

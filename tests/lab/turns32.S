/* As turns64.S, of 32-bit code. There an entry loses nothing but eax. */
#include "case32.inc"
#include "entries32.inc"
#include "picture32.inc"
#include "aim.inc"

#define NONE   0x0fffffff
#define ENOSYS 38

/* With PERIOD 0, calls follow each other at once. */
.macro AIM
#if PERIOD
	call	aim
#else
	test	%esp, %esp		# the flags are always the same
#endif
.endm

/* Flags, ecx, edx as the first call left them; 0 until then. */
.macro ONE_CALL name, number, result, noted
	AIM
	mov	$0x5a035a03, %edx
	mov	$\number, %eax
	PREPARE_\name
	ENTER_\name
9:	cmp	$\result, %eax
	jne	wrong
	pushf
	pop	%eax
	cmp	%eax, \noted
	jne	3f
	cmp	%ecx, \noted + 4
	jne	wrong
	cmp	%edx, \noted + 8
	jne	wrong
	jmp	4f
3:	cmpl	$0, \noted
	jne	wrong
	mov	%eax, \noted
	mov	%ecx, \noted + 4
	mov	%edx, \noted + 8
4:
.endm

.macro BEGIN
	mov	%eax, turns
	mov	%esp, stack_before
#if PERIOD
	call	synchronize
#endif
	mov	$0x5a015a01, %ebx
	mov	$0x5a025a02, %ecx
	mov	$0x5a045a04, %esi
	mov	$0x5a055a05, %edi
	mov	$0x5a065a06, %ebp
.endm

.macro AGAIN
	decl	aim_at
	decl	turns
	jnz	1b
	xor	%eax, %eax		# aim's, where no call is looked at
	xor	%edx, %edx
	ljmp	$USER_CODE_64, $see
.endm

.irp name, int80, sysenter, syscall, gateway, call_gate, lcall7, ud, lock_nop, int3, div0
CASE \name
	BEGIN
1:	ONE_CALL \name, NUMBER_\name, 1, noted
	ONE_CALL \name, NONE, -ENOSYS, noted_none
	AGAIN
.endr

#include "turns.inc"

seen:	jmp	done

	.bss
	.balign	4
noted:	.skip	12
noted_none:
	.skip	12
turns:	.skip	4

END_CASES

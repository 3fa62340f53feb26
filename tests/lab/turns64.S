/*
 * Calls that are interrupted everywhere: argv[1] names the entry, argv[2] is the number of turns. In each turn the interrupt comes
 * one instruction later (aim.inc). A turn calls with a number that exists, and with one that does not.
 *
 * At the end it writes a picture of the registers. What an entry preserves is loaded once, so that a register which an
 * interrupt has changed stays changed; the others must be the same after every call.
 */
#include "case64.inc"
#include "entries64.inc"
#include "picture64.inc"
#include "aim.inc"

#define NONE 0x0fffffff

/* With PERIOD 0, calls follow each other at once. */
.macro AIM
#if PERIOD
	call	aim
#else
	test	%rsp, %rsp		# the flags are always the same
#endif
.endm

/* Flags, rcx, rdx, r11 as the first call left them. `noted` is 0 until then, which flags never are. */
.macro ONE_CALL name, number, result, noted
	AIM
	movabs	$0x5a035a035a035a03, %rdx
	mov	$\number, %eax
	PREPARE_\name
	ENTER_\name
9:	cmp	$\result, %rax
	jne	wrong
	pushf
	pop	%rax
	cmp	%rax, \noted
	jne	3f
	cmp	%rcx, \noted + 8
	jne	wrong
	cmp	%rdx, \noted + 16
	jne	wrong
	cmp	%r11, \noted + 24
	jne	wrong
	jmp	4f
3:	cmpq	$0, \noted
	jne	wrong
	mov	%rax, \noted
	mov	%rcx, \noted + 8
	mov	%rdx, \noted + 16
	mov	%r11, \noted + 24
4:
.endm

.macro BEGIN
	mov	%eax, turns
#if PERIOD
	call	synchronize
#endif
	POISON
	movabs	$0x5a015a015a015a01, %rbx
	movabs	$0x5a045a045a045a04, %rsi
	movabs	$0x5a075a075a075a07, %rdi
.endm

.macro AGAIN
	decl	aim_at
	decl	turns
	jnz	1b
	xor	%eax, %eax		# aim's, where no call is looked at
	xor	%edx, %edx
	jmp	show
.endm

.irp name, syscall, sysenter, call_gate, int80, call_gate_i386, ud, lock_nop, int3, div0
CASE \name
	BEGIN
1:	ONE_CALL \name, NUMBER_\name, 1, noted
	ONE_CALL \name, NONE, -ENOSYS, noted_none
	AGAIN
.endr

#include "turns.inc"

/* A page fault that is served: the emulated page, which is not executable. */
#define VSYSCALL_GETCPU 0xffffffffff600800
CASE vsyscall
	BEGIN
	xor	%edi, %edi
	xor	%esi, %esi
1:	AIM
	mov	$VSYSCALL_GETCPU, %rax
	call	*%rax
	test	%rax, %rax
	jnz	wrong
	AGAIN

/*
 * The kernel's access to the program's memory: four bytes, eight, sixteen, and a copy. Through a call gate, which leaves
 * interrupts on.
 */
#define NR_GETCWD	79
#define NR_GETRLIMIT	97
#define NR_GETRESUID	118
#define ARCH_GET_FS	0x1003
#define EFAULT		14
#define NOWHERE		8

.macro ASK number, first, second, third, result
	AIM
	mov	$\first, %edi
	mov	$\second, %esi
	mov	$\third, %edx
	mov	$\number, %eax
	lcall	*gate_x86_64
	cmp	$\result, %rax
	jne	wrong
.endm
CASE memory
	BEGIN
1:	ASK	NR_GETRESUID, answer, answer, answer, 0
	ASK	NR_ARCH_PRCTL, ARCH_GET_FS, answer, 0, 0
	ASK	NR_GETRLIMIT, 0, answer, 0, 0
	ASK	NR_GETCWD, answer, 16, 0, 2
	AGAIN
CASE no-memory
	BEGIN
1:	ASK	NR_GETRESUID, NOWHERE, answer, answer, -EFAULT
	ASK	NR_ARCH_PRCTL, ARCH_GET_FS, NOWHERE, 0, -EFAULT
	ASK	NR_GETRLIMIT, 0, NOWHERE, 0, -EFAULT
	ASK	NR_GETCWD, NOWHERE, 16, 0, -EFAULT
	AGAIN

CASE nothing
	jmp	done

show:	PICTURE	picture
	mov	$1, %edi
	mov	$picture, %esi
	mov	$picture_end - picture, %edx
	SYSTEM_CALL NR_WRITE
	jmp	done

	.bss
	.balign	16
picture:
	.skip	PICTURE_BYTES
noted:	.skip	32
noted_none:
	.skip	32
picture_end:
answer:	.skip	32
turns:	.skip	4

END_CASES

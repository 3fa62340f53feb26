/* turns.inc in 64-bit code; and what the kernel serves besides entries. */
#include "case64.inc"
#include "picture64.inc"

#define CHANGED_BY_ENTRIES rcx, rdx, r11

.macro LOAD_KEPT
	POISON
	movabs	$POISON_OF(1), %rbx
	movabs	$POISON_OF(4), %rsi
	movabs	$POISON_OF(7), %rdi
.endm

.macro SHOW
	jmp	show
.endm

.macro LEAVE_SEGMENTS
.endm
.macro FIND_SEGMENTS
.endm

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
	ARRIVE
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
	ARRIVE
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
noted_mach:
	.skip	32
picture_end:
answer:	.skip	32

END_CASES

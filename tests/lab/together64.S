/*
 * A 64-bit program of several that run together: argv[1] names an entry, argv[2] is the program's number, from 1 on. It yields by
 * that entry, again and again, and finds each time what it has left. The exit status says what it did not find.
 */
#include "case64.inc"
#include "entries64.inc"
#include "picture64.inc"
#include "together.inc"

#define NR_SIGPROCMASK	14
#define NR_SCHED_YIELD	24
#define NR32_SCHED_YIELD 158
#define NR_GETPID	39
#define ARCH_SET_GS	0x1001
#define ARCH_SET_FS	0x1002

#define SLOT	 8

/* Words of a picture, by number; then the vectors follow. */
#define FLAGS	 16
#define SS	 18
#define WORDS	 23

#define CPUID_AVX  0x18000000 /* leaf 1, ecx: AVX, and the kernel saves it */

/* Another value in each register, for each program and turn. */
.macro MARK_ALL
	mov	number, %rax
	shl	$32, %rax
	or	turn, %rax
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movq	%rax, %xmm\i
	punpcklqdq %xmm\i, %xmm\i
	add	$0x1010000, %rax
	.endr
	.irp	register, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	add	$0x1010000, %rax
	mov	%rax, %\register
	.endr
.endm

/* `lost`: bit for each word of the picture that the entry does not keep. */
.macro YIELD name, call, lost
CASE \name
	call	prepare
1:	call	touch
	MARK_ALL
	mov	$\call, %eax
	PREPARE_\name
	PICTURE	picture_before
	ENTER_\name
9:	PICTURE	picture_after
	mov	$\lost, %ebx
	call	compare
	incq	turn
	cmpq	$TURNS, turn
	jb	1b
	jmp	done
.endm
YIELD syscall, NR_SCHED_YIELD, 0x804
YIELD sysenter, NR_SCHED_YIELD, 0x4080c
YIELD call_gate, NR_SCHED_YIELD, 0
YIELD ud, NR_SCHED_YIELD, 0
YIELD lock_nop, NR_SCHED_YIELD, 0
YIELD int3, NR_SCHED_YIELD, 0
YIELD div0, NR_SCHED_YIELD, 0
YIELD int80, NR32_SCHED_YIELD, 0
YIELD call_gate_i386, NR32_SCHED_YIELD, 0

/* Touches a hundred MiB, in its last turn alone; so it must be given back when the program ends. */
CASE hoard
	xor	%edi, %edi
	mov	$100 << 20, %esi
	mov	$3, %edx
	mov	$MAP_ANONYMOUS, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYSTEM_CALL NR_MMAP
	mov	%rax, %rbx
	SYSTEM_CALL NR_SCHED_YIELD	# all are there
	lea	100 << 20(%rbx), %rdx
1:	mov	%rbx, (%rbx)
	add	$PAGE, %rbx
	cmp	%rdx, %rbx
	jb	1b
	jmp	done

/* Its number as a digit, three times. */
CASE say
	movl	$3, turn
	mov	number, %eax
	add	$'0', %eax
	mov	%al, found
1:	mov	$1, %edi
	mov	$found, %esi
	mov	$1, %edx
	SYSTEM_CALL NR_WRITE
	SYSTEM_CALL NR_SCHED_YIELD
	decl	turn
	jnz	1b
	jmp	done

CASE fault
	SYSTEM_CALL NR_SCHED_YIELD
	mov	0, %eax

CASE status
	SYSTEM_CALL NR_SCHED_YIELD
	mov	number, %edi
	SYSTEM_CALL NR_EXIT

/* Yields for ever. */
CASE stay
1:	SYSTEM_CALL NR_SCHED_YIELD
	jmp	1b

.macro FAIL_UNLESS condition, status
	j\condition 7f
	EXIT	\status
7:
.endm

/* Everything that the other programs must leave alone. */
prepare:
	mov	$1, %eax
	cpuid
	and	$CPUID_AVX, %ecx
	cmp	$CPUID_AVX, %ecx
	jne	1f
	movb	$1, has_avx
	movq	number, %xmm0
	vinsertf128 $1, %xmm0, %ymm15, %ymm15 # the upper half; SSE changes the lower one alone
1:	mov	number, %rbx
	imul	$SLOT, %rbx, %rsi
	add	$slots, %rsi
	mov	%rbx, (%rsi)
	mov	$ARCH_SET_FS, %edi
	SYSTEM_CALL NR_ARCH_PRCTL
	imul	$SLOT, %rbx, %rsi
	add	$other_slots, %rsi
	mov	%rbx, (%rsi)
	mov	$ARCH_SET_GS, %edi
	SYSTEM_CALL NR_ARCH_PRCTL
	mov	%rbx, mask
	mov	$2, %edi		# SIG_SETMASK
	mov	$mask, %esi
	xor	%edx, %edx
	mov	$8, %r10d
	SYSTEM_CALL NR_SIGPROCMASK
	mov	%ebx, %eax
	SET_ROUNDING
	fildq	number
	SYSTEM_CALL NR_GETPID
	mov	%rax, process
	test	$1, %bl
	jz	1f
	mov	$USER_DATA, %eax
	mov	%eax, %es
	xor	%eax, %eax
	mov	%eax, %ds
	ret
1:	xor	%eax, %eax
	mov	%eax, %es
	ret

/* A page that was not touched before: all programs have one at this address. */
touch:	mov	turn, %rax
	shl	$12, %rax
	mov	number, %rbx
	mov	%rbx, pages(%rax)
	ret

compare:
	cmpq	$0, picture_after	# rax: the result
	FAIL_UNLESS e, NO_RESULT
	mov	$1, %ecx
1:	bt	%ecx, %ebx
	jc	3f
	mov	picture_before(, %rcx, 8), %rax
	xor	picture_after(, %rcx, 8), %rax
	cmp	$FLAGS, %ecx
	jne	2f
	and	$~ARITHMETIC, %rax
2:	test	%rax, %rax
	jz	3f
	lea	1(%rcx), %edi
	SYSTEM_CALL NR_EXIT
3:	inc	%ecx
	cmp	$32, %ecx
	jb	4f
	xor	%ebx, %ebx		# vectors are always kept
4:	cmp	$PICTURE_BYTES / 8, %ecx
	jb	1b

	mov	number, %rbx
	cmp	%rbx, %fs:0
	FAIL_UNLESS e, FS_LOST
	cmp	%rbx, %gs:0
	FAIL_UNLESS e, GS_LOST
	xor	%edi, %edi
	xor	%esi, %esi
	mov	$found, %edx
	mov	$8, %r10d
	SYSTEM_CALL NR_SIGPROCMASK
	cmp	%rbx, found
	FAIL_UNLESS e, MASK_LOST
	CHECK_ROUNDING
	fld	%st(0)
	fistpq	found
	cmp	%rbx, found
	FAIL_UNLESS e, X87_VALUE_LOST
	SYSTEM_CALL NR_GETPID
	cmp	%rax, process
	FAIL_UNLESS e, PID_LOST
	cmpb	$0, has_avx
	je	1f
	vextractf128 $1, %ymm15, %xmm0
	movq	%xmm0, found
	cmp	%rbx, found
	FAIL_UNLESS e, AVX_LOST
1:
	mov	turn, %rcx
1:	mov	%rcx, %rax
	shl	$12, %rax
	cmp	%rbx, pages(%rax)
	FAIL_UNLESS e, MEMORY_LOST
	dec	%rcx
	jns	1b
	ret

	.bss
	.balign	16
turn:	.skip	8
mask:	.skip	8
found:	.skip	8
mxcsr:	.skip	8
x87:	.skip	8
process:
	.skip	8
has_avx:
	.skip	8
slots:	.skip	16 * SLOT
other_slots:
	.skip	16 * SLOT
picture_before:
	.skip	PICTURE_BYTES
picture_after:
	.skip	PICTURE_BYTES
	.balign	PAGE
pages:	.skip	TURNS * PAGE

END_CASES

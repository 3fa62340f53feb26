/* together.inc in 64-bit code, with segments of its own in FS and GS; and programs that do something else together. */
#include "case64.inc"
#include "picture64.inc"

#define ARCH_SET_GS	0x1001
#define ARCH_SET_FS	0x1002

#define SLOT	 8

/* Words of a picture, by number; then the vectors follow. */
#define FLAGS	 16

#define CPUID_AVX  0x18000000 /* leaf 1, ecx: AVX, and the kernel saves it */

#define MARKED	       rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
#define VECTORS_MARKED 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define NUMBER_AT      32
#define MARK_STEP      0x1010000

.macro FILL_VECTOR i
	movq	%rax, %xmm\i
	punpcklqdq %xmm\i, %xmm\i
.endm

.macro LOOK_BEFORE name
	PREPARE_\name
	PICTURE	picture_before
.endm

.macro TAKE_SEGMENT where, code
	imul	$SLOT, %rbx, %rsi
	add	$\where, %rsi
	mov	%rbx, (%rsi)
	mov	$\code, %edi
	SYSTEM_CALL NR_ARCH_PRCTL
.endm

.macro PREPARE_OWN
	mov	$1, %eax
	cpuid
	and	$CPUID_AVX, %ecx
	cmp	$CPUID_AVX, %ecx
	jne	1f
	movb	$1, has_avx
	movq	number, %xmm0
	vinsertf128 $1, %xmm0, %ymm15, %ymm15 # the upper half; SSE changes the lower one alone
1:	mov	number, %rbx
	TAKE_SEGMENT slots, ARCH_SET_FS
	TAKE_SEGMENT other_slots, ARCH_SET_GS
	xor	%eax, %eax		# odd numbers have a null DS, even ones a null ES
	xor	%ecx, %ecx
	test	$1, %bl
	jz	1f
	mov	%eax, %ds
	mov	$USER_DATA, %ecx
1:	mov	%ecx, %es
.endm

.macro CHECK_OWN
	mov	number, %rbx
	cmp	%rbx, %fs:0
	FAIL_UNLESS e, FS_LOST
	cmp	%rbx, %gs:0
	FAIL_UNLESS e, GS_LOST
	cmpb	$0, has_avx
	je	1f
	vextractf128 $1, %ymm15, %xmm0
	movq	%xmm0, found
	cmp	%rbx, found
	FAIL_UNLESS e, AVX_LOST
1:
.endm

#include "together.inc"

YIELD syscall, 0x804
YIELD sysenter, 0x4080c
.irp name, call_gate, EXCEPTIONS, I386_ENTRIES
YIELD \name, 0
.endr

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

	.bss
	.balign	8
has_avx:
	.skip	8
slots:	.skip	16 * SLOT
other_slots:
	.skip	16 * SLOT

END_CASES

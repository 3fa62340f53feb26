/*
 * turns.inc in 32-bit code. There an entry loses nothing but eax, and it is 64-bit code that takes the picture. Where PROTECTED is 1, the
 * kernel is that of protected mode, which keeps DS and ES: they are null in each call. Then the cases of what is special there follow.
 */
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
	SEE
.endm

#if PROTECTED
.macro FLAT_SEGMENTS
	push	%ss
	pop	%ds
	push	%ss
	pop	%es
.endm

.macro NULL_SEGMENTS
	push	$0
	pop	%ds
	push	$0
	pop	%es
.endm

.set needs_segments, 0
.macro LEAVE_SEGMENTS
	.if	!needs_segments
	NULL_SEGMENTS
	.endif
.endm

/* They are null still, or again. */
.macro FIND_SEGMENTS
	.if	needs_segments
	.exitm
	.endif
	push	%ds
	push	%es
	FLAT_SEGMENTS
	cmpw	$0, (%esp)		# processors leave the upper half of such a word as it was
	jne	wrong
	cmpw	$0, 4(%esp)
	jne	wrong
	lea	8(%esp), %esp
.endm
#else
.macro LEAVE_SEGMENTS
.endm
.macro FIND_SEGMENTS
.endm
#endif

#include "turns.inc"

seen:	jmp	done

#if PROTECTED
/*
 * A call that empties the descriptor which DS or ES has: the kernel cannot load it again on its way back, and makes it null. Each turn makes
 * the descriptor anew, and has the other null. The interrupt comes behind the first of these calls, and one instruction earlier in each
 * turn, for as many turns as there are: what is looked for is near the end.
 */
#define TLS_SELECTOR	(FIRST_TLS * 8 + 3)
#define BEHIND		(MARGIN + 24)

.macro MAKE_DESCRIPTOR
	mov	$tls, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	test	%eax, %eax
	jnz	wrong
	LOAD_KEPT
	mov	$empty, %ebx
.endm

.macro EMPTY_DESCRIPTOR name, segment
	mov	$NR32_SET_THREAD_AREA, %eax
	PREPARE_\name
	NULL_SEGMENTS
	push	$TLS_SELECTOR
	pop	%\segment
	ENTER_\name
9:	FIND_SEGMENTS
	test	%eax, %eax
	jnz	wrong
.endm

.macro GONE name, segment
CASE \segment-gone-\name
	mov	%eax, turns
	MAKE_DESCRIPTOR			# what is touched first takes long
	EMPTY_DESCRIPTOR \name, \segment
2:	MAKE_DESCRIPTOR
	mov	turns, %eax
	BEGIN
	mov	$empty, %ebx
	rdtsc
	mov	%eax, begun_here
	EMPTY_DESCRIPTOR \name, \segment
	rdtsc
	sub	begun_here, %eax
#if PERIOD
	cmp	$PERIOD / 2, %eax	# something else than NMIs has come meanwhile
	ja	2b
#endif
	add	$BEHIND, %eax
	sub	%eax, aim_at
1:	MAKE_DESCRIPTOR
	AIM
	EMPTY_DESCRIPTOR \name, \segment
	incl	aim_at
	decl	turns
	jnz	1b
	xor	%eax, %eax
	xor	%edx, %edx
	SHOW
.endm
.irp name, int80, sysenter, syscall, call_gate, EXCEPTIONS
GONE \name, ds
GONE \name, es
.endr

/* Those of entries that this kernel alone has, and another way into each task than its own. */
#include "gates32.inc"
WAY task_jumped, ljmp $SELECTOR_GATE_TASK, $0
WAY task_jmp_called, lcall $SELECTOR_GATE_TASK_JMP, $0

.macro CALLS name
CASE \name
	BEGIN
1:	ONE_CALL \name, NR32_GETPPID, 1, noted
	ONE_CALL \name, NONE, -ENOSYS, noted_none
	AGAIN
.endm
.irp name, into, absent_fs, absent_ss, limit, gate_16_0, gate_16_1, gate_16_8, gate_32_1, gate_32_8, task_jumped, task_jmp_called
CALLS \name
.endr
.set needs_segments, 1			# the bounds are in DS
CALLS bound
CASE foreign-bound			# whose bounds have another address than the kernel knows
	BEGIN
	mov	$bounds, %esi
1:	AIM
	bound	%ebp, (%esi)
	ARRIVE
	AGAIN
.set needs_segments, 0

/* What serves nothing. */
CASE task-nested-jumped
	BEGIN
1:	AIM
	LEAVE_SEGMENTS
	ljmp	$SELECTOR_GATE_TASK_NESTED, $0
	FIND_SEGMENTS
	ARRIVE
	AGAIN

/*
 * Virtual-8086 mode: into it, one int $0x80 there, which comes back with its answer, and out of it. And what the monitor does there by itself. The code
 * is copied to where such code can be.
 */
#define PARAGRAPH		0x1000

	.section .rodata
	.code16
v86_code:
	int	$0x80
	int	$VECTOR_V86
v86_other:
	cli
	int	$VECTOR_V86
v86_code_end:
	.code32
	.text

.macro PREPARE_v86 from=v86_code
	.rept	5			# gs, fs, ds, es, ss
	push	$PARAGRAPH
	.endr
	push	$0x8000			# esp
	push	$0
	push	$PARAGRAPH
	push	$(\from - v86_code)
.endm
.macro ENTER_v86
	int	$VECTOR_V86
	lea	36(%esp), %esp
.endm

.macro MAP_V86_CODE
	push	%eax
	mov	$(PARAGRAPH << 4), %ebx
	mov	$0x1000, %ecx
	MAP_FIXED
	mov	$v86_code, %esi
	mov	%eax, %edi
	mov	$(v86_code_end - v86_code), %ecx
	rep movsb
	pop	%eax
.endm

CASE v86
	MAP_V86_CODE
	BEGIN
1:	ONE_CALL v86, NR32_GETPPID, 1, noted
	ONE_CALL v86, NONE, -ENOSYS, noted_none
	AGAIN
CASE foreign-v86
	MAP_V86_CODE
	BEGIN
1:	AIM
	PREPARE_v86 v86_other
	LEAVE_SEGMENTS
	ENTER_v86
	FIND_SEGMENTS
	ARRIVE
	AGAIN

/*
 * The kernel's access to the program's memory: four bytes, eight, sixteen, and a copy. Through a call gate, which leaves interrupts on.
 */
#define NR_GETCWD	183
#define NR_UGETRLIMIT	191
#define NR_GETRESUID32	209
#define NR_PRLIMIT64	340
#define EFAULT		14
#define NOWHERE		8

.macro ASK number, first, second, third, result
	AIM
	mov	$\first, %ebx
	mov	$\second, %ecx
	mov	$\third, %edx
	mov	$\number, %eax
	ENTER_call_gate
	cmp	$\result, %eax
	jne	wrong
	ARRIVE
.endm
CASE memory
	BEGIN
	mov	$answer, %esi
1:	ASK	NR_GETRESUID32, answer, answer, answer, 0
	ASK	NR_UGETRLIMIT, 0, answer, 0, 0
	ASK	NR_PRLIMIT64, 0, 0, 0, 0
	ASK	NR_GETCWD, answer, 16, 0, 2
	AGAIN
CASE no-memory
	BEGIN
	mov	$NOWHERE, %esi
1:	ASK	NR_GETRESUID32, NOWHERE, answer, answer, -EFAULT
	ASK	NR_UGETRLIMIT, 0, NOWHERE, 0, -EFAULT
	ASK	NR_PRLIMIT64, 0, 0, 0, -EFAULT
	ASK	NR_GETCWD, NOWHERE, 16, 0, -EFAULT
	AGAIN

/* An interrupt that is no call, and is served. */
CASE interrupt
	BEGIN
1:	AIM
	LEAVE_SEGMENTS
	int	$VECTOR_SOFTWARE
	FIND_SEGMENTS
	ARRIVE
	AGAIN

	.data
	.balign	4
/* struct user_desc: entry, base, limit, flags (32 bits, limit in pages, useable). */
tls:	.long	FIRST_TLS, 0, 0xfffff, 0x51
empty:	.long	FIRST_TLS, 0, 0, 0x28	# read only, not present
#endif

	.bss
	.balign	4
noted:	.skip	12
noted_none:
	.skip	12
noted_mach:
	.skip	12
answer:	.skip	32
begun_here:
	.skip	4

END_CASES

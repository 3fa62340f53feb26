/*
 * Samples as the probe takes them (probe/timed.inc), of a use of an entry between two stamps or of several. uses.c says what for.
 *
 *	void <entry>_one(struct sample *out, unsigned long count)	one use in a sample
 *	void <entry>_loose(...)		one use in a sample, between stamps without their third fence
 *	void <entry>_loosely(...)	USES; between two of them a stamp without its third fence, as are the others
 *	void <entry>_stamped(...)	USES; between two of them a stamp, which nobody reads
 *	void <entry>_chained(...)	USES; between two of them a chain of imuls, as there is before the first, between fences
 *	void <entry>_fenced(...)	USES; between two of them an lfence
 *	void <entry>_unfenced(...)	USES, nothing between them
 */
#define USES  16
#define IMULS 256

#ifdef __x86_64__
#define POINTER rcx
.macro SAVE
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	mov	%rdi, sample_out
	mov	%esi, sample_count
.endm
.macro RESTORE
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
.endm
.macro LOAD_FUNCTION
	mov	arguments + 0, %rdi
	mov	arguments + 8, %rsi
	mov	arguments + 16, %rdx
	mov	arguments + 24, %rcx
	mov	arguments + 32, %r8
.endm
.macro UNLOAD_FUNCTION
.endm
#else
#define POINTER ecx
.macro SAVE
	push	%ebx
	push	%ebp
	push	%esi
	push	%edi
	sub	$12, %esp
	mov	32(%esp), %eax
	mov	%eax, sample_out
	mov	36(%esp), %eax
	mov	%eax, sample_count
.endm
.macro RESTORE
	add	$12, %esp
	pop	%edi
	pop	%esi
	pop	%ebp
	pop	%ebx
.endm
.macro LOAD_FUNCTION
	push	arguments + 12
	push	arguments + 8
	push	arguments + 4
	push	arguments + 0
.endm
.macro UNLOAD_FUNCTION
	add	$16, %esp
.endm
#endif

.macro STAMP slot
	lfence
	rdtsc
	lfence
	mov	%eax, stamps + 8 * \slot
	mov	%edx, stamps + 8 * \slot + 4
	lfence
.endm

.macro LOOSE_STAMP slot
	lfence
	rdtsc
	lfence
	mov	%eax, stamps + 8 * \slot
	mov	%edx, stamps + 8 * \slot + 4
.endm

.macro SPARE_STAMP
	STAMP	4
.endm

.macro SPARE_LOOSE_STAMP
	LOOSE_STAMP	4
.endm

.macro CHAIN
	.rept IMULS
	imul	%ecx, %ecx
	.endr
.endm

.macro SPARE_CHAIN
	lfence
	CHAIN
	lfence
.endm

.macro TAKE
	mov	sample_out, %POINTER
	.irp	offset, 0, 4, 8, 12, 16, 20, 24, 28
	mov	stamps + \offset, %eax
	mov	%eax, \offset(%POINTER)
	.endr
	add	$32, %POINTER
	mov	%POINTER, sample_out
.endm

/* \what \uses times, with \fence between two of them. */
.macro EACH what, uses, fence
	\what
	.rept	\uses - 1
	\fence
	\what
	.endr
.endm

.macro TIMED name, uses, fence, stamp=STAMP
	.text
	.balign 64
	.globl \name
	.type \name, @function
\name:
	SAVE
1:	\stamp	0
	CHAIN
	\stamp	1
	EACH	USE_CONTROL, \uses, \fence
	\stamp	2
	EACH	USE_ENTRY, \uses, \fence
	\stamp	3
	TAKE
	decl	sample_count
	jnz	1b
	RESTORE
	ret
	.size \name, . - \name
.endm

.macro FORMS name
	TIMED \name\()_one, 1
	TIMED \name\()_loose, 1, , LOOSE_STAMP
	TIMED \name\()_loosely, USES, SPARE_LOOSE_STAMP, LOOSE_STAMP
	TIMED \name\()_stamped, USES, SPARE_STAMP
	TIMED \name\()_chained, USES, SPARE_CHAIN
	TIMED \name\()_fenced, USES, lfence
	TIMED \name\()_unfenced, USES
.endm

.macro USE_CONTROL
.endm
.macro USE_ENTRY
	rdtsc
.endm
FORMS rdtsc

.purgem USE_ENTRY
.macro USE_ENTRY
	rdtscp
.endm
FORMS rdtscp

#ifdef __x86_64__
.purgem USE_ENTRY
.macro USE_ENTRY
	rdpid	%rax
.endm
FORMS rdpid
#endif

.purgem USE_ENTRY
.purgem USE_CONTROL
.macro USE_CONTROL
	LOAD_FUNCTION
	UNLOAD_FUNCTION
.endm
.macro USE_ENTRY
	LOAD_FUNCTION
	call	*target
	UNLOAD_FUNCTION
.endm
FORMS function

/* A function that does nothing, as that of the probe's row call. */
	.balign 64
	.globl empty
	.type empty, @function
empty:
	.rept 6
	nop
	.endr
	ret
	.size empty, . - empty

/* void canary(struct sample *out, unsigned long count): between stamps 0 and 1 a chain, 1 and 2 eight, 2 and 3 84 x 25 nots. */
	.balign 64
	.globl canary
	.type canary, @function
canary:
	SAVE
1:	STAMP	0
	CHAIN
	STAMP	1
	.rept	8
	CHAIN
	.endr
	STAMP	2
	push	$25
2:
	.rept	12
	.irp	register, eax, ebx, ecx, edx, esi, edi, ebp
	not	%\register
	.endr
	.endr
#ifdef __x86_64__
	decl	(%rsp)
#else
	decl	(%esp)
#endif
	jnz	2b
	pop	%POINTER
	STAMP	3
	TAKE
	decl	sample_count
	jnz	1b
	RESTORE
	ret
	.size canary, . - canary

	.bss
	.balign 64
	.globl	target, arguments
stamps:	.skip 40
sample_out: .skip 8
sample_count: .skip 8
target:	.skip 8
arguments: .skip 48

	.section .note.GNU-stack, "", @progbits

/* together.inc in 32-bit code, with its thread-local storage in GS. */
#include "case32.inc"

/* Words of a picture. */
#define FLAGS	8
#define WORDS	14
#define VECTORS 8
#define PICTURE_BYTES (BYTES * WORDS + 16 * VECTORS)

#define MARKED	       ebx, ecx, edx, esi, edi, ebp
#define VECTORS_MARKED 0, 1, 2, 3, 4, 5, 6, 7
#define NUMBER_AT      24
#define MARK_STEP      0x10100

.macro FILL_VECTOR i
	movd	%eax, %xmm\i
	pshufd	$0, %xmm\i, %xmm\i
.endm

/* Registers; flags; segments; xmm0 to xmm7. */
.macro PICTURE where
	.set	at, 0
	.irp	register, eax, ebx, ecx, edx, esi, edi, ebp, esp
	mov	%\register, \where + at
	.set	at, at + BYTES
	.endr
	pushf
	popl	\where + at
	.irp	register, ss, ds, es, fs, gs
	.set	at, at + BYTES
	mov	%\register, \where + at
	.endr
	.irp	i, VECTORS_MARKED
	movdqu	%xmm\i, \where + BYTES * WORDS + 16 * \i
	.endr
.endm

/* What the entry asks for, it undoes. */
.macro LOOK_BEFORE name
	PICTURE	picture_before
	PREPARE_\name
.endm

.macro PREPARE_OWN
	mov	number, %edx
	mov	%edx, slots(, %edx, 4)
	lea	slots(, %edx, 4), %eax
	mov	%eax, segment + 4
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	mov	segment, %eax
	lea	3(, %eax, 8), %eax
	mov	%eax, %gs
.endm

.macro CHECK_OWN
	mov	number, %ebp
	cmp	%ebp, %gs:0
	FAIL_UNLESS e, GS_LOST
.endm

#include "together.inc"

.irp name, int80, sysenter, syscall, gateway, call_gate, lcall7, ud, lock_nop, int3 ENTRIES_PROTECTED
YIELD \name, 0
.endr
YIELD div0, 0x40			# ebp is the divisor

	.data
	.balign	4
segment:
	.long	-1, 0, 0xfffff, 0x51

	.bss
	.balign	4
slots:	.skip	4 * 16

END_CASES

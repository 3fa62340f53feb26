/* As together64.S, in 32-bit code, with its thread-local storage in GS. */
#include "case32.inc"
#include "entries32.inc"
#include "together.inc"

#define NR_SCHED_YIELD	158
#define NR_GETPID	20
#define NR_SIGPROCMASK	175

/* Words of a picture. */
#define FLAGS	7
#define WORDS	13
#define VECTORS 8
#define PICTURE_BYTES (4 * WORDS + 16 * VECTORS)

/* ebx, ecx, edx, esi, edi, ebp, esp; flags; ss, ds, es, fs, gs; xmm0 to xmm7. */
.macro PICTURE where
	mov	%ebx, \where
	mov	%ecx, \where + 4
	mov	%edx, \where + 8
	mov	%esi, \where + 12
	mov	%edi, \where + 16
	mov	%ebp, \where + 20
	mov	%esp, \where + 24
	pushf
	popl	\where + 28
	mov	%ss, \where + 32
	mov	%ds, \where + 36
	mov	%es, \where + 40
	mov	%fs, \where + 44
	mov	%gs, \where + 48
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	movdqu	%xmm\i, \where + 4 * WORDS + 16 * \i
	.endr
.endm

.macro MARK_ALL
	mov	number, %eax
	shl	$24, %eax
	or	turn, %eax
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7
	movd	%eax, %xmm\i
	pshufd	$0, %xmm\i, %xmm\i
	add	$0x10100, %eax
	.endr
	.irp	register, ebx, ecx, edx, esi, edi, ebp
	add	$0x10100, %eax
	mov	%eax, %\register
	.endr
.endm

/* The picture before is taken before what the entry asks for, which it undoes. `lost`: what it changes all the same. */
.macro YIELD name, lost
CASE \name
	call	prepare
1:	call	touch
	MARK_ALL
	mov	$NR_SCHED_YIELD, %eax
	PICTURE	picture_before
	PREPARE_\name
	ENTER_\name
9:	mov	%eax, result
	PICTURE	picture_after
	mov	$\lost, %ebx
	call	compare
	incl	turn
	cmpl	$TURNS, turn
	jb	1b
	jmp	done
.endm
YIELD int80, 0
YIELD sysenter, 0
YIELD syscall, 0
YIELD gateway, 0
YIELD call_gate, 0
YIELD lcall7, 0
YIELD ud, 0
YIELD lock_nop, 0
YIELD int3, 0
YIELD div0, 0x20			# ebp is the divisor

.macro FAIL_UNLESS condition, status
	j\condition 7f
	EXIT	\status
7:
.endm

prepare:
	mov	number, %edx
	mov	%edx, slots(, %edx, 4)
	lea	slots(, %edx, 4), %eax
	mov	%eax, segment + 4
	mov	$segment, %ebx
	SYSTEM_CALL NR_SET_THREAD_AREA
	mov	segment, %eax
	lea	3(, %eax, 8), %eax
	mov	%eax, %gs
	mov	number, %edx
	mov	%edx, mask
	mov	$2, %ebx		# SIG_SETMASK
	mov	$mask, %ecx
	xor	%edx, %edx
	mov	$8, %esi
	SYSTEM_CALL NR_SIGPROCMASK
	mov	number, %eax
	SET_ROUNDING
	fildl	number
	SYSTEM_CALL NR_GETPID
	mov	%eax, process
	ret

touch:	mov	turn, %eax
	shl	$12, %eax
	mov	number, %ebx
	mov	%ebx, pages(%eax)
	ret

compare:
	cmpl	$0, result
	FAIL_UNLESS e, NO_RESULT
	xor	%ecx, %ecx
1:	cmp	$32, %ecx
	jae	5f
	bt	%ecx, %ebx
	jc	3f
5:	mov	picture_before(, %ecx, 4), %eax
	xor	picture_after(, %ecx, 4), %eax
	cmp	$FLAGS, %ecx
	jne	2f
	and	$~ARITHMETIC, %eax
2:	test	%eax, %eax
	jz	3f
	lea	1(%ecx), %ebx
	SYSTEM_CALL NR_EXIT
3:	inc	%ecx
	cmp	$PICTURE_BYTES / 4, %ecx
	jb	1b

	mov	number, %ebp
	cmp	%ebp, %gs:0
	FAIL_UNLESS e, GS_LOST
	xor	%ebx, %ebx
	xor	%ecx, %ecx
	mov	$found, %edx
	mov	$8, %esi
	SYSTEM_CALL NR_SIGPROCMASK
	cmp	%ebp, found
	FAIL_UNLESS e, MASK_LOST
	CHECK_ROUNDING
	fld	%st(0)
	fistpl	found
	cmp	%ebp, found
	FAIL_UNLESS e, X87_VALUE_LOST
	SYSTEM_CALL NR_GETPID
	cmp	%eax, process
	FAIL_UNLESS e, PID_LOST
	mov	turn, %ecx
1:	mov	%ecx, %eax
	shl	$12, %eax
	cmp	%ebp, pages(%eax)
	FAIL_UNLESS e, MEMORY_LOST
	dec	%ecx
	jns	1b
	ret

	.data
	.balign	4
segment:
	.long	-1, 0, 0xfffff, 0x51

	.bss
	.balign	16
turn:	.skip	4
result:	.skip	4
mask:	.skip	8
found:	.skip	8
mxcsr:	.skip	4
x87:	.skip	4
process:
	.skip	4
slots:	.skip	4 * 16
picture_before:
	.skip	PICTURE_BYTES
picture_after:
	.skip	PICTURE_BYTES
	.balign	PAGE
pages:	.skip	TURNS * PAGE

END_CASES

/* What a 32-bit program reaches by segments (protected/segments.rs). The number is an address. */
#include "case32.inc"

/* DS, as programs have it. */
CASE read
	mov	(%eax), %al
	jmp	done
CASE write
	movb	$0, (%eax)
	jmp	done
CASE jump
	jmp	*%eax
CASE push
	mov	%eax, %esp
	push	%eax
	jmp	done

/* A segment of its own that asks for 4 GiB from `base` on, to FS. */
.macro TAKE_SEGMENT flags
	movl	$\flags, segment + 12
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
.endm
.macro TAKE_ALL
	TAKE_SEGMENT 0x51		# 32 bits, pages, usable
	test	%eax, %eax
	jnz	wrong
	mov	$FIRST_TLS * 8 + 3, %eax
	mov	%eax, %fs
.endm
CASE own-read
	TAKE_ALL
	mov	number, %eax
	sub	$base, %eax
	mov	%fs:(%eax), %al
	jmp	done
CASE own-inside
	TAKE_ALL
	cmpl	$0x5a5a5a5a, %fs:0
	jne	wrong
	jmp	done
/* Below its base: thread-local storage of C, which wraps around at 4 GiB. */
CASE own-below
	TAKE_ALL
	mov	%fs:-4, %al
	jmp	done
CASE expand-down
	TAKE_SEGMENT 0x53
	test	%eax, %eax
	jz	done
	cmp	$-22, %eax
	jne	wrong
	EXIT	2
/* CR0.PG, where UMIP does not keep it from programs (SDM vol. 2B, SMSW); to be the number. */
CASE paging
	smsw	%eax
	shr	$31, %eax
	cmp	number, %eax
	jne	wrong
	jmp	done
/* Of the limits that selectors have; to be the number. */
CASE limit
	mov	$USER_DATA, %ecx
	lsl	%cx, %eax
	cmp	number, %eax
	jne	wrong
	mov	$USER_CODE_32, %ecx
	lsl	%cx, %eax
	cmp	number, %eax
	jne	wrong
	jmp	done

/*
 * A trap that is due behind syscall, with the number for a stack pointer. What sets TF has to come directly before, and pops it: from a segment
 * whose base makes of the number an address of this program. syscall loads a flat one.
 */
CASE trap-on-stack
	push	$RFLAGS_TF
	mov	%esp, %edx
	sub	%eax, %edx
	mov	%edx, segment + 4
	TAKE_ALL
	mov	number, %edi
	mov	%fs, %ecx
	mov	$NR32_GETPPID, %eax
	mov	%ecx, %ss
	mov	%edi, %esp
	popf
	syscall

/* A task gate, entered by the wrong instruction. */
CASE jump-to-task
	mov	%eax, target + 4
	mov	$NR32_GETPPID, %eax
	ljmp	*target
	jmp	done
CASE call-task
	mov	%eax, target + 4
	mov	$NR32_GETPPID, %eax
	lcall	*target
	jmp	done

	.data
	.balign	4
target:	.long	0, 0
below:	.long	0
base:	.long	0x5a5a5a5a
segment:
	.long	FIRST_TLS, base, 0xfffff, 0

END_CASES

/* What a 32-bit program must not do (faults.inc), and what only 32-bit code can do. */
#include "case32.inc"

#define NR64_EXIT    60
#define NR64_GETPPID 110

.macro FAR_POINTER
	push	%eax			# the selector is the number
	push	$done
.endm

.macro PREPARE_WITH_STACK name
	PREPARE_\name			# which needs one
	mov	number, %esp
.endm

/* The top three words: eip, cs, eflags. Flags that edx names. */
.macro IRET_WITH_FLAGS
	pushf
	or	%edx, (%esp)
	push	$USER_CODE_32
	push	$1f
	iret
1:
.endm

#include "faults.inc"

/* Selectors, on the way back. */
CASE lret-selector
	FAR_POINTER
	lret
CASE iret-selector
	pushf
	FAR_POINTER
	iret

CASE iret-nested			# to the task that the TSS of programs names, or to none
	mov	$RFLAGS_NT, %edx
	SET_FLAGS
	xor	%edx, %edx
	IRET_WITH_FLAGS
	jmp	done

INSTRUCTION sysexit,	sysexit
INSTRUCTION sysret,	sysretl
INSTRUCTION aam,		aam $0
CASE into
	mov	$0x7fffffff, %eax
	inc	%eax
	into
	jmp	done
CASE bound
	mov	$1, %eax
	bound	%eax, zeroes
	jmp	done
	.pushsection .rodata
	.balign	4
zeroes:	.long	0, 0
	.popsection

CASE reserve
	xor	%ebx, %ebx
	mov	%eax, %ecx
	mov	$PROTECT_ALL, %edx
	mov	$MAP_ANONYMOUS, %esi
	mov	$-1, %edi
	xor	%ebp, %ebp
	SYSTEM_CALL NR_MMAP2
	cmp	$-4096, %eax
	jae	wrong
	movb	$1, (%eax)
	mov	%eax, %ebx
	mov	number, %ecx
	SYSTEM_CALL NR_MUNMAP
	test	%eax, %eax
	jnz	wrong
	jmp	done

.macro TAKE_SEGMENT
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	test	%eax, %eax
	jnz	wrong
	mov	$FIRST_TLS * 8 + 3, %eax
	mov	%eax, %fs
.endm

segment_is_refused:
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	cmp	$-22, %eax		# EINVAL
	jne	wrong
	jmp	done

/* Segments of its own. The number is the limit, in bytes. */
CASE segment-limit
	movl	$two_pages, segment + 4
	mov	%eax, segment + 8
	movl	$0x41, segment + 12	# 32 bits, usable
	TAKE_SEGMENT
	mov	%fs:0, %al
	mov	%fs:4096, %al
	jmp	done
	.local	two_pages
	.comm	two_pages, 8192, 4096
/* The number is the RPL with which FS and GS hold it: none may be left when it has gone. */
CASE emptied-segment
	push	%eax
	movl	$two_pages, segment + 4
	movl	$0xfff, segment + 8
	movl	$0x41, segment + 12
	TAKE_SEGMENT
	pop	%ecx
	and	$~3, %eax
	or	%ecx, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	movl	$0, segment + 4
	movl	$0, segment + 8
	movl	$0x28, segment + 12	# read-only, not present: empty
	mov	$segment, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	test	%eax, %eax
	jnz	wrong
	mov	%fs, %eax
	mov	%gs, %ecx
	or	%ecx, %eax
	jnz	wrong
	jmp	done
CASE sixteen-bit-segment		# on whose stack iret would leave half of the kernel's stack pointer
	movl	$0x50, segment + 12
	jmp	segment_is_refused
CASE code-segment
	movl	$0x45, segment + 12	# contents: 2
	jmp	segment_is_refused
CASE other-descriptor			# the number is the entry of the GDT
	mov	%eax, segment
	jmp	segment_is_refused

.irp name, ENTRIES
/* The answer goes to a page that is not there yet, so that the kernel faults in the call. */
CASE untouched-\name
	mov	$UNAME_\name, %eax
	mov	$untouched, %ebx
	PREPARE_\name
	ENTER_\name
9:	push	%eax			# the stack is as it was
	pop	%eax
	test	%eax, %eax
	jnz	wrong
	cmpl	$0x756e694c, untouched	# "Linu"
	jne	wrong
	jmp	done

/* With something in the upper half of every register, which 64-bit code has put there. */
CASE upper-halves-\name
	CALL_UNAME \name
	ljmp	$USER_CODE_64, $1f
	.code64
1:	movabs	$0x5a5a5a5a00000000, %r8
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp
	or	%r8, %\register
	.endr
	movl	$2f, to_32_bit_code(%rip)
	ljmp	*to_32_bit_code(%rip)
	.code32
2:	ENTER_\name
9:	jmp	check_name

CASE read-after-\name			# the lower half of an address of the kernel's
	mov	$NUMBER_\name, %eax
	PREPARE_\name
	ENTER_\name
#if PROTECTED
9:	mov	number, %eax
	mov	(%eax), %al
#else
9:	ljmp	$USER_CODE_64, $read_kernel
#endif
.endr

/* sysenter's stack pointer is in ebp. */
CASE sysenter-stack
	mov	%eax, %ebp
	mov	$NR32_GETPPID, %eax
	sysenter

	.code64
read_kernel:
	movslq	number(%rip), %rax
	mov	(%rax), %al
	.code32

.irp name, int80, call_gate, lcall7 ENTRIES_PROTECTED
CASE stack-segment-gone-\name
	TAKE_SEGMENT
	mov	%fs, %eax
	mov	%eax, %ss
	mov	$NR32_SET_THREAD_AREA, %eax
	mov	$no_segment, %ebx
	ENTER_\name
	jmp	done
.endr

/* In 64-bit code, to which a far jump leads. */
.macro TO_64_BIT_CODE
	mov	%eax, %esi
	ljmp	$USER_CODE_64, $1f
	.code64
1:
.endm
CASE read-above				# 4 GiB, by the number
	TO_64_BIT_CODE
	shl	$32, %rsi
	mov	(%rsi), %al
	.code32
CASE jump-above
	TO_64_BIT_CODE
	shl	$32, %rsi
	jmp	*%rsi
	.code32
CASE syscall-from-64-bit-code
	TO_64_BIT_CODE
	mov	$NR64_GETPPID, %eax
	syscall
	cmp	$1, %rax
	setne	%dil
	movzbl	%dil, %edi
	mov	$NR64_EXIT, %eax
	syscall
	.code32
CASE int80-from-64-bit-code
	TO_64_BIT_CODE
	mov	$NR32_GETPPID, %eax
	int	$0x80
	cmp	$1, %rax
	setne	%bl
	movzbl	%bl, %ebx
	mov	$NR_EXIT, %eax
	int	$0x80
	.code32
CASE sysenter-from-64-bit-code		# goes on in 32-bit code, at the landing pad
	TO_64_BIT_CODE
	mov	$NR32_GETPPID, %eax
	sub	$16, %rsp
	movl	$0, (%rsp)
	movl	$0, 4(%rsp)
	movl	$0, 8(%rsp)
	mov	$1f, %ecx
	mov	%ecx, 12(%rsp)
	mov	%esp, %ebp
	sysenter
	.code32
1:	cmp	$1, %eax
	jne	wrong
	jmp	done

/* Vectors from 0x50 on, one of which is the number (protected/idt.rs). */
CASE vector
	sub	$0x50, %eax
	lea	1f(, %eax, 8), %eax
	jmp	*%eax
	.balign	8
1:
	.set	vector, 0x50
	.rept	16
	.balign	8
	int	$vector
	jmp	done
	.set	vector, vector + 1
	.endr

/* Without an end. */
CASE spin
	jmp	.

END_CASES

/*
 * Calls a `ret` that is not in code, and exits with 0 if that is executed. PLACE says where it is: 0 the stack, 1 data,
 * 2 anonymous memory that may be read and written.
 */
#ifdef __x86_64__
#define NR_MMAP 9
#define NR_EXIT 60
#else
#define NR_MMAP 192
#define NR_EXIT 1
#endif
#define PAGE	  4096
#define READWRITE 3
#define ANONYMOUS 0x22 /* private */
#define RET	  0xc3

	.globl	_start
_start:
#if PLACE == 0
#ifdef __x86_64__
	sub	$16, %rsp
	movb	$RET, (%rsp)
	call	*%rsp
#else
	sub	$16, %esp
	movb	$RET, (%esp)
	call	*%esp
#endif
#elif PLACE == 1
#ifdef __x86_64__
	call	*place
#else
	call	*place
#endif
#else
#ifdef __x86_64__
	mov	$NR_MMAP, %eax
	xor	%edi, %edi
	mov	$PAGE, %esi
	mov	$READWRITE, %edx
	mov	$ANONYMOUS, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	movb	$RET, (%rax)
	call	*%rax
#else
	mov	$NR_MMAP, %eax
	xor	%ebx, %ebx
	mov	$PAGE, %ecx
	mov	$READWRITE, %edx
	mov	$ANONYMOUS, %esi
	mov	$-1, %edi
	xor	%ebp, %ebp
	int	$0x80
	movb	$RET, (%eax)
	call	*%eax
#endif
#endif
#ifdef __x86_64__
	mov	$NR_EXIT, %eax
	xor	%edi, %edi
	syscall
#else
	mov	$NR_EXIT, %eax
	xor	%ebx, %ebx
	int	$0x80
#endif

	.data
	.balign	16
ret:	.byte	RET
	.balign	8
place:
#ifdef __x86_64__
	.quad	ret
#else
	.long	ret
#endif

	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// mapped-time-vvar: the wall clock's seconds out of the page that the vDSO's own functions read.
// The kernel promises neither where that page is nor how it is laid out, so every page before the
// vDSO is looked at for a structure that makes sense and agrees with time(2).
#define SYS_write	1
#define SYS_pipe	22
#define SYS_exit	60
#define SYS_time	201
#define SKIPPED		77
#define AT_SYSINFO_EHDR	33
#define PAGE		4096
#define PAGES		16		// how far before the vDSO to look; Linux 6.18 has 6 of them
#define TRIES		1000000
#define SEQ		0		// struct vdso_clock (struct vdso_data before 6.15)
#define CLOCK_MODE	4
#define MASK_OLD	16		// behind cycle_last; since 6.10 max_cycles may stand between
#define MASK_NEW	24
#define MULT		8		// from here on counted from mask
#define SHIFT		12
#define REALTIME_SEC	16		// basetime[CLOCK_REALTIME].sec
#define CLOCK_SIZE	56		// all that is looked at
#define MODE_TSC	1
#define MODE_HVCLOCK	3

	.globl	_start
	.text
_start:	lea	8(%rsp), %rsi		// rsp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsq
	test	%rax, %rax
	jnz	1b
	loop	1b
2:	lodsq				// type, value; type 0 is the end
	mov	%rax, %rdx
	lodsq
	cmp	$AT_SYSINFO_EHDR, %rdx
	je	3f
	test	%rdx, %rdx
	jnz	2b
	jmp	shut

3:	mov	%rax, %rbp		// rbp: the vDSO, where the search ends
	lea	-PAGES * PAGE(%rbp), %r12
	mov	$SYS_pipe, %eax
	mov	$pipe, %edi
	syscall
	test	%rax, %rax
	jnz	shut

next_page:				// r12: the page
	mov	$SYS_write, %eax	// may it be read? write(2) answers EFAULT where mov would die
	mov	pipe + 4(%rip), %edi
	mov	%r12, %rsi
	mov	$1, %edx
	syscall
	cmp	$1, %rax
	jne	4f
	call	search
4:	add	$PAGE, %r12
	cmp	%rbp, %r12
	jb	next_page
	jmp	shut

// search(r12: a page): does not return if the clock is in it
search:	mov	%r12, %rbx		// rbx: the place that may be the structure
5:	mov	CLOCK_MODE(%rbx), %eax
	dec	%eax
	cmp	$MODE_HVCLOCK - MODE_TSC, %eax
	ja	6f			// no clock that user space could read
	lea	MASK_OLD(%rbx), %r14
	call	check
	lea	MASK_NEW(%rbx), %r14
	call	check
6:	add	$8, %rbx
	lea	PAGE - CLOCK_SIZE(%r12), %rax
	cmp	%rax, %rbx
	jbe	5b
	ret

// check(rbx: structure, r14: its mask): does not return if it makes sense and has the right time
check:	cmpq	$-1, (%r14)		// all these counters have 64 bits
	jne	9f
	cmpl	$0, MULT(%r14)
	je	9f
	mov	SHIFT(%r14), %eax
	dec	%eax
	cmp	$32, %eax
	jae	9f
	mov	$TRIES, %ecx
7:	dec	%ecx
	jz	9f
	mov	SEQ(%rbx), %edx		// odd: the kernel is writing
	test	$1, %dl
	jnz	7b
	mov	REALTIME_SEC(%r14), %r15
	cmp	SEQ(%rbx), %edx		// changed: it has been writing meanwhile
	jne	7b
	mov	$SYS_time, %eax
	xor	%edi, %edi
	syscall
	sub	%r15, %rax
	add	$2, %rax
	cmp	$4, %rax		// within two seconds, either way
	jbe	found
9:	ret

found:	mov	%r15, %rax
	mov	$digits, %edi		// make it decimal, from the last digit to the first
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%rcx
	add	$'0', %dl
	dec	%rdi
	mov	%dl, (%rdi)
	test	%rax, %rax
	jnz	1b
	mov	%rdi, %rbx
	mov	$text, %esi
	mov	$text_end - text, %edx
	call	write
	mov	%rbx, %rsi
	mov	$digits + 1, %edx	// the newline too
	sub	%ebx, %edx
	call	write
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

shut:	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	call	write
	mov	$SKIPPED, %edi
	jmp	exit

// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.balign	8
pipe:	.long	0, 0
	.skip	20
digits:	.ascii	"\n"
text:	.ascii	"hello through mapped-time-vvar: "
text_end:
closed:	.ascii	"closed: no page before the vDSO holds a clock that is known and agrees with time(2)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

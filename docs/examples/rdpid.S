// gcc -nostdlib -static -no-pie -o hello hello.S
// rdpid: which CPU am I on, without asking the kernel. It wrote node << 12 | cpu into TSC_AUX once.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGILL		4
#define SA_RESTORER	0x04000000
#define CPU_MASK	0xfff
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// a CPU without it: #UD, which is SIGILL
	mov	$SIGILL, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	rdpid	%rax
	and	$CPU_MASK, %eax		// already out of date: the scheduler may have moved us

	mov	$digits, %edi		// make it decimal, from the last digit to the first
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%ecx
	add	$'0', %dl
	dec	%rdi
	mov	%dl, (%rdi)
	test	%eax, %eax
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

no_insn:
	mov	$closed, %esi
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
action:	.quad	no_insn, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
	.skip	4			// 0xfff has 4 digits
digits:	.ascii	"\n"
text:	.ascii	"hello through rdpid: CPU "
text_end:
closed:	.ascii	"closed: #UD, this CPU has no rdpid\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

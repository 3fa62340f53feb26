// gcc -nostdlib -static -no-pie -o hello hello.S
// vsyscall: time(2) by a call to its fixed address, the same in every process since 2.5. Today
// nothing executes there: the fetch faults, and the kernel does the call and the ret itself.
#define VSYSCALL_TIME	0xffffffffff600400	// gettimeofday at +0, time at +0x400, getcpu at +0x800
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// vsyscall=none: the fault becomes SIGSEGV
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	$VSYSCALL_TIME, %rax
	xor	%edi, %edi		// no place to store it: the seconds come back in rax
	call	*%rax

	mov	$digits, %edi		// make them decimal, from the last digit to the first
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

no_page:
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
action:	.quad	no_page, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
	.skip	20
digits:	.ascii	"\n"
text:	.ascii	"hello through vsyscall: "
text_end:
closed:	.ascii	"closed: there is no vsyscall page (vsyscall=none)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

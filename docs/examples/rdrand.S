// gcc -nostdlib -static -no-pie -o hello hello.S
// rdrand: a random number of the processor's own. CF says whether it is one; Intel advises ten attempts.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGILL		4
#define SA_RESTORER	0x04000000
#define ATTEMPTS	10
#define DIGITS		16
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// a CPU without it: #UD, which is SIGILL
	mov	$SIGILL, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	$ATTEMPTS, %ecx
1:	rdrand	%rax
	jc	2f			// carry: there was a number
	dec	%ecx
	jnz	1b
	mov	$empty, %esi
	mov	$empty_end - empty, %edx
	jmp	skip

2:	mov	$digits, %edi		// make it hexadecimal, the upper digit first
	mov	$DIGITS, %ecx
3:	rol	$4, %rax
	mov	%eax, %edx
	and	$0xf, %edx
	mov	hexadecimal(%rdx), %dl
	mov	%dl, (%rdi)
	inc	%rdi
	dec	%ecx
	jnz	3b
	mov	$text, %esi
	mov	$text_end - text, %edx
	call	write
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

no_insn:
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
skip:	call	write
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
hexadecimal:
	.ascii	"0123456789abcdef"
text:	.ascii	"hello through rdrand: 0x"
digits:	.skip	DIGITS
	.ascii	"\n"
text_end:
closed:	.ascii	"closed: #UD, this CPU has no rdrand\n"
closed_end:
empty:	.ascii	"closed: the generator had no number, ten times\n"
empty_end:
	.section .note.GNU-stack, "", @progbits

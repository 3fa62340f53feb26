// gcc -nostdlib -static -no-pie -o hello hello.S
// rdtsc: read the time stamp counter and print it. The kernel takes no part in the reading.
#define SYS_write	1
#define SYS_exit	60

	.globl	_start
	.text
_start:	rdtsc				// the halves come in edx:eax, the upper parts of both cleared
	shl	$32, %rdx
	or	%rdx, %rax

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
	mov	$SYS_exit, %eax
	xor	%edi, %edi
	syscall

// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.skip	20			// 2^64 has 20 digits
digits:	.ascii	"\n"
text:	.ascii	"hello through rdtsc: "
text_end:
	.section .note.GNU-stack, "", @progbits

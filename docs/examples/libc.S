// gcc -no-pie -o hello hello.S
// libc: time(2) by the C library's function of that name. What it does (vDSO, system call) is its
// own business; glibc picks the vDSO's function once, when the program is loaded.
	.globl	main
	.text
main:	push	%rbx			// the ABI wants rsp on a multiple of 16 at a call
	xor	%edi, %edi		// no place to store it: the seconds come back in rax
	call	time@PLT
	mov	%rax, %rsi
	mov	$format, %edi
	xor	%eax, %eax		// variadic: no vector registers carry arguments
	call	printf@PLT
	xor	%eax, %eax
	pop	%rbx
	ret				// to libc, which flushes stdout and exits with eax

	.section .rodata
format:	.asciz	"hello through libc: %ld\n"
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// rseq: the kernel keeps the number of the CPU in the thread's memory. A program without a C library registers the area itself.
#define SYS_write	1
#define SYS_exit	60
#define SYS_rseq	334
#define SIGNATURE	0x53053053
#define AREA_SIZE	32
#define CPU_ID		4
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rseq, %eax
	mov	$area, %edi
	mov	$AREA_SIZE, %esi
	xor	%edx, %edx		// no flags: register it
	mov	$SIGNATURE, %r10d
	syscall
	test	%eax, %eax
	jnz	no_rseq

	mov	area + CPU_ID, %eax	// written when the kernel returned; again whenever it moves us

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

no_rseq:
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
	.balign	AREA_SIZE
area:	.long	0, -1			// cpu_id_start, cpu_id
	.quad	0			// no sequence
	.skip	16
	.skip	10			// a number of 32 bits has 10 digits
digits:	.ascii	"\n"
text:	.ascii	"hello through rseq: CPU "
text_end:
closed:	.ascii	"closed: rseq is refused, or this kernel has none\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

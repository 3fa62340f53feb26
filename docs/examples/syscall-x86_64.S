// gcc -nostdlib -static -no-pie -o hello hello.S
// syscall-x86_64: write(2) by the syscall instruction, the way in of every 64-bit program.
#define SYS_write	1
#define SYS_exit	60

	.globl	_start
	.text
_start:	mov	$SYS_write, %eax	// number in rax; arguments in rdi, rsi, rdx, r10, r8, r9
	mov	$1, %edi
	mov	$text, %esi		// static and not PIE: addresses fit in 32 bits
	mov	$text_end - text, %edx
	syscall				// the CPU itself overwrites rcx (with rip) and r11 (with rflags)
	mov	$SYS_exit, %eax
	xor	%edi, %edi
	syscall

	.section .rodata
text:	.ascii	"hello through syscall-x86_64\n"
text_end:
	.section .note.GNU-stack, "", @progbits

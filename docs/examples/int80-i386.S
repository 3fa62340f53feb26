// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// int80-i386: write(2) by int $0x80, the first way into Linux, from a 32-bit process.
#define SYS_exit	1
#define SYS_write	4

	.globl	_start
	.text
_start:	mov	$SYS_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80			// comes back by iret; only eax has changed
	mov	$SYS_exit, %eax
	xor	%ebx, %ebx
	int	$0x80

	.section .rodata
text:	.ascii	"hello through int80-i386\n"
text_end:
	.section .note.GNU-stack, "", @progbits

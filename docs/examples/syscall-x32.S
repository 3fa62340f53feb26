// gcc -nostdlib -static -no-pie -o hello hello.S
// syscall-x32: write(2) by syscall with bit 30 of the number set, which asks for the x32 ABI.
#define SYS_write	1
#define SYS_exit	60
#define X32_BIT		0x40000000
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$X32_BIT + SYS_write, %eax
	mov	$1, %edi
	mov	$text, %esi
	mov	$text_end - text, %edx
	syscall
	xor	%edi, %edi
	cmp	$text_end - text, %rax
	je	done

	mov	$SYS_write, %eax	// -ENOSYS: say so by the ordinary number, which always works
	mov	$1, %edi
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	syscall
	mov	$SKIPPED, %edi
done:	mov	$SYS_exit, %eax
	syscall

	.section .rodata
text:	.ascii	"hello through syscall-x32\n"
text_end:
closed:	.ascii	"closed: bit 30 is refused (no CONFIG_X86_X32_ABI, or Debian without syscall.x32=y)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// gateway-i386: write(2) by a call to __kernel_vsyscall, whose address the kernel leaves in the
// auxiliary vector. Behind it is sysenter, syscall or int $0x80: whichever suits this CPU.
#define SYS_exit	1
#define SYS_write	4
#define AT_SYSINFO	32
#define SKIPPED		77

	.globl	_start
	.text
_start:	lea	4(%esp), %esi		// esp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsl
	test	%eax, %eax
	jnz	1b
	loop	1b
2:	lodsl				// type, value; type 0 is the end
	mov	%eax, %edx
	lodsl
	cmp	$AT_SYSINFO, %edx
	je	3f
	test	%edx, %edx
	jnz	2b

	mov	$SYS_write, %eax	// no gateway: int $0x80 is what is left
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

3:	mov	%eax, %edi		// kept for as long as the process lives, as libc does at %gs:16
	mov	$SYS_write, %eax	// the registers of int $0x80, and the same ones preserved
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	call	*%edi
	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

	.section .rodata
text:	.ascii	"hello through gateway-i386\n"
text_end:
closed:	.ascii	"closed: no AT_SYSINFO in the auxiliary vector (booted with vdso32=0)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

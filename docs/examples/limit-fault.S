// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// limit-fault: write(2) by a read beyond the limit of FS. The lab's kernel for protected mode has a segment of one
// byte at 0xe8 of its GDT, and serves this as a system call to its probes, and to a program that is run by the command
// below (QEMU checks no limits). Linux has none there: #GP when FS is loaded.
//	kentry lab --lab-kernel i386 --bochs --serve-exceptions --exec hello
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGSEGV		11
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	mov	$SYS_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	mov	$0xeb, %ebp
	mov	%ebp, %fs
	mov	$1, %esi		// one beyond the only byte
	lodsb	%fs:(%esi)		// the kernel skips it; only eax has changed
	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

no_call:
	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_call, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through limit-fault\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no segment at 0xe8 of the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

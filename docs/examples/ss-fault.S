// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// ss-fault: write(2) by a load of SS with the selector of a segment that is not present. The lab's kernel for
// protected mode has one at 0xe0 of its GDT, and serves this as a system call to its probes, and to a program that
// is run by the command below. Linux has none there: #GP.
//	kentry lab --lab-kernel i386 --serve-exceptions --exec hello
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
	mov	$0xe3, %ebp
	mov	%ebp, %ss		// the kernel skips it; only eax has changed
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
text:	.ascii	"hello through ss-fault\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no segment at 0xe0 of the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

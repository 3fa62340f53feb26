// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// conforming: a far call to a conforming code segment of ring 0, of the lab's kernel for protected mode. Its code runs
// in ring 3, and returns by lret; the hello itself has to be written by a system call. Linux has no segment there:
// #GP. QEMU before 9.1 and Bochs push as the kernel would, which SMAP forbids.
//	kentry lab --lab-kernel i386 --set smap=off --exec hello
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGSEGV		11
#define SKIPPED		77
#define CONFORMING	0x123		// the conforming code segment, asked for with RPL 3

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	lcall	$CONFORMING, $0		// pushes cs and eip on this stack
	mov	$1, %ebx
	cmp	$CONFORMING, %eax	// the proof that it went there: its code answers cs
	jne	exit

	mov	$SYS_write, %eax
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80
	xor	%ebx, %ebx
exit:	mov	$SYS_exit, %eax
	int	$0x80

no_segment:
	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_segment, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through conforming\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no conforming segment and no gate to it (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

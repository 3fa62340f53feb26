// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// task-gate-int: write(2) by int through vector 0x41 of the lab's i386 kernel: a task gate, so that a task of the kernel serves it.
// Linux has no gate for programs there: #GP.
//	kentry lab --lab-kernel i386 --exec hello
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
	int	$0x41		// a switch to the kernel's task and one back; only eax has changed
	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

no_gate:
	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_gate, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through task-gate-int\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel has no task gate of vector 0x41 (the lab's i386 kernel has)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

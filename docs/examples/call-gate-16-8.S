// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// call-gate-16-8: write(2) by a far call to selector 0x113, a call gate of 16 bits of the lab's kernel for protected
// mode, which copies eight words from this stack. It keeps 16 bits of eip and esp, so the call is made in the conforming
// segment 0x123, which begins at its page: at 0x50 is the call, and a jump through the pointer in ebp. Linux has no
// segment there: #GP. QEMU before 9.1 reads what is copied as the kernel would, which SMAP forbids.
//	kentry lab --lab-kernel i386 --set smap=off --exec hello
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
	mov	$way_back, %ebp
	mov	%esp, %edi		// edi is kept; of esp the lower half
	.rept	8
	pushw	$0			// what is copied, whatever it is
	.endr
	ljmp	$0x123, $0x50
back:	mov	%edi, %esp
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
	.balign	8
way_back:
	.long	back
	.word	0x23			// the code segment of 32-bit programs
	.balign	4
action:	.long	no_call, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through call-gate-16-8\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no conforming segment at 0x120 of the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

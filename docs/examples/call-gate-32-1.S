// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// call-gate-32-1: write(2) by a far call to selector 0xf3, a call gate of the lab's kernel for protected mode,
// which copies one doubleword from this stack. Linux has no gate there: #GP.
// QEMU before 9.1 reads what is copied as the kernel would, which SMAP forbids.
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
	push	$0			// what is copied, whatever it is
	lcall	$0xf3, $0		// the offset is ignored: the gate has one. The kernel releases what was copied
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
text:	.ascii	"hello through call-gate-32-1\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no call gate there in the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

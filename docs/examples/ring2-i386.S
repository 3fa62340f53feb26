// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// ring2-i386: write(2) by a far call to selector 0xc3, the call gate at 0xc0 of the lab's GDT to ring 2,
// from where it goes on to the kernel. Linux's GDT has no gate there: #GP.
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
	lcall	$0xc3, $0		// the offset is ignored: the gate has one. Only eax has changed
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
text:	.ascii	"hello through ring2-i386\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no call gate at 0xc0 of the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

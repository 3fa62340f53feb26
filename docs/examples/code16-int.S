// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// code16-int: write(2) by int $0x80 from 16-bit code in protected mode, on a 16-bit stack, in the
// segments that the lab's kernel for protected mode has for it.
//	kentry lab --lab-kernel i386 --set espfix=on --exec hello
// Elsewhere they are not there: on Linux a program makes some by modify_ldt(2).
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SYS_mmap2	192
#define SIGSEGV		11
#define SKIPPED		77
#define CODE_16		0x17		// D = 0; it begins at BASE, and has 64 KiB
#define DATA_16		0x1f		// B = 0; the same
#define USER_CODE_32	0x23
#define USER_DATA	0x2b
#define BASE		0x10000
#define UPPER_HALF	0x5a070000	// of esp: a 16-bit stack does not use it

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	mov	$SYS_mmap2, %eax
	mov	$BASE, %ebx
	mov	$0x10000, %ecx
	mov	$7, %edx		// to read, write and execute
	mov	$0x32, %esi		// private, fixed, anonymous
	mov	$-1, %edi
	xor	%ebp, %ebp
	int	$0x80
	mov	$1, %ebx
	cmp	$BASE, %eax
	jne	exit

	mov	%eax, %edi		// the 16-bit code goes there
	mov	$there, %esi
	mov	$there_end - there, %ecx
	rep movsb

	mov	%esp, stack_32
	mov	$SYS_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx		// a linear address: the kernel's segments are flat
	mov	$text_end - text, %edx
	lss	stack_16, %esp
	ljmp	$CODE_16, $0
back:	mov	%esp, %ebp
	lss	stack_32, %esp

	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
	shr	$16, %ebp		// with espfix=off, it is the kernel's
	cmp	$UPPER_HALF >> 16, %ebp
	je	exit
	or	$2, %ebx
exit:	mov	$SYS_exit, %eax
	int	$0x80

	.code16
there:	int	$0x80			// through the gate of 32 bits. Only eax has changed
	ljmpl	$USER_CODE_32, $back
there_end:
	.code32

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
stack_16:
	.long	UPPER_HALF + 0xfff0
	.word	DATA_16
	.balign	4
action:	.long	no_segment, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through code16-int\n"
text_end:
closed:	.ascii	"closed: #GP, there is no segment of 16 bits at 0x1f (the lab's kernel for protected mode has one)\n"
closed_end:
	.data
	.balign	4
stack_32:
	.long	0
	.word	USER_DATA
	.section .note.GNU-stack, "", @progbits

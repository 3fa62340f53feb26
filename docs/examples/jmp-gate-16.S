// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// jmp-gate-16: a far jump through a call gate of 16 bits of the lab's kernel for protected mode to a conforming code segment,
// whose code runs in ring 3, and jumps back; the hello itself has to be written by a system call. Linux has no gate there:
// #GP.
//	kentry lab --lab-kernel i386 --exec hello
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

	mov	$way_back, %ebp		// for the code behind the gate: nothing is pushed
	ljmp	$0x1eb, $0		// the offset is ignored: the gate has one
back:	mov	$1, %ebx
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
text:	.ascii	"hello through jmp-gate-16\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no conforming segment and no gate to it (the lab does)\n"
closed_end:
	.balign	8
way_back:
	.long	back
	.word	0x23			// the code segment of 32-bit programs
	.section .note.GNU-stack, "", @progbits

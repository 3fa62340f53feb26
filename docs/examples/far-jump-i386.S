// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// far-jump-i386: a far jump from 32-bit code to the 64-bit code segment, and one back. No
// privilege changes; the hello itself has to be written by a system call.
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGSEGV		11
#define SKIPPED		77
#define USER_CODE_32	0x23
#define USER_CODE_64	0x33		// of Linux on x86-64 and of the lab

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	ljmp	$USER_CODE_64, $there	// the far address is in the instruction
back:	mov	$1, %ebx
	cmp	$USER_CODE_64, %eax	// the proof that it went there
	jne	exit

	mov	$SYS_write, %eax
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80
	xor	%ebx, %ebx
exit:	mov	$SYS_exit, %eax
	int	$0x80

	.code64
there:	mov	%cs, %eax
	ljmp	*far_pointer(%rip)	// 64-bit code has it by an operand in memory alone
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
far_pointer:
	.long	back			// offset, then selector
	.word	USER_CODE_32
	.balign	4
action:	.long	no_segment, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through far-jump-i386\n"
text_end:
closed:	.ascii	"closed: #GP, there is no 64-bit code segment at 0x33: a kernel of 32 bits\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

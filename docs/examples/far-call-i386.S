// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// far-call-i386: a far call from 32-bit code to the 64-bit code segment, and back by lret. No
// privilege changes; the hello itself has to be written by a system call.
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGSEGV		11
#define SKIPPED		77
#define USER_CODE_64	0x33		// of Linux on x86-64 and of the lab

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	lcall	$USER_CODE_64, $callee	// pushes cs and eip, 4 bytes each
	mov	$1, %ebx
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
callee:	mov	%esp, %esp		// the upper half of rsp is undefined behind 32-bit code
	mov	%cs, %eax
	lretl				// pops eip and cs: 32-bit code again
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
action:	.long	no_segment, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through far-call-i386\n"
text_end:
closed:	.ascii	"closed: #GP, there is no 64-bit code segment at 0x33: a kernel of 32 bits\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

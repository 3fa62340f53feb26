// gcc -nostdlib -static -no-pie -o hello hello.S
// far-jump-x86_64: a far jump from 64-bit code to the 32-bit code segment, and one back. No privilege
// changes; the hello itself has to be written by a system call.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77
#define USER_CODE_32	0x23		// of Linux and of the lab
#define USER_CODE_64	0x33

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	%rsp, %r15		// r8 to r15 survive 32-bit code; of rsp only the lower half does
	ljmp	*far_pointer		// 64-bit code has it by an operand in memory alone
back:	mov	%r15, %rsp
	mov	$1, %edi
	cmp	$USER_CODE_32, %eax	// the proof that it went there
	jne	exit

	mov	$SYS_write, %eax
	mov	$text, %esi
	mov	$text_end - text, %edx
	syscall
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

	.code32
there:	mov	%cs, %eax
	ljmp	$USER_CODE_64, $back	// 32-bit code also has it with the far address in the instruction
	.code64

no_segment:
	mov	$SYS_write, %eax
	mov	$1, %edi
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	syscall
	mov	$SYS_exit, %eax
	mov	$SKIPPED, %edi
	syscall

	.section .rodata
	.balign	8
action:	.quad	no_segment, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
far_pointer:
	.long	there			// offset, then selector
	.word	USER_CODE_32
text:	.ascii	"hello through far-jump-x86_64\n"
text_end:
closed:	.ascii	"closed: #GP, there is no 32-bit code segment at 0x23\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

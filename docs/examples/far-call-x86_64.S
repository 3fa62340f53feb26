// gcc -nostdlib -static -no-pie -o hello hello.S
// far-call-x86_64: a far call from 64-bit code to the 32-bit code segment, and back by lret. No
// privilege changes; the hello itself has to be written by a system call.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77
#define USER_CODE_32	0x23		// of Linux and of the lab

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	%rsp, %r15		// r8 to r15 survive 32-bit code; of rsp only the lower half does
	mov	$stack_top, %esp	// and 32-bit code reaches no stack above 4 GiB
	lcall	*far_pointer		// pushes cs and eip, 4 bytes each
	mov	%r15, %rsp
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
callee:	mov	%cs, %eax
	lret				// pops eip and cs: 64-bit code again
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
	.long	callee			// offset, then selector
	.word	USER_CODE_32
text:	.ascii	"hello through far-call-x86_64\n"
text_end:
closed:	.ascii	"closed: #GP, there is no 32-bit code segment at 0x23\n"
closed_end:
	.bss
	.balign	16
	.skip	16384			// a handler of a signal needs more than the call
stack_top:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// int3: the breakpoint. #BP arrives as SIGTRAP.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_rt_sigreturn 15
#define SYS_exit	60
#define SIGTRAP		5
#define SA_RESTORER	0x04000000

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGTRAP, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall
	int3
	mov	$SYS_exit, %eax		// here only if the handler was run and came back
	mov	failed(%rip), %edi
	syscall

// void handler(int signal)
handler:
	// a trap, not a fault: rip is already behind int3, so there is nothing to skip
	mov	$SYS_write, %eax
	mov	$1, %edi
	mov	$text, %esi
	mov	$text_end - text, %edx
	syscall
	movl	$0, failed(%rip)
	ret				// to the restorer, whose address the kernel pushed

restorer:
	mov	$SYS_rt_sigreturn, %eax	// rsp is at the frame: every register comes back from it
	syscall

	.data
	.balign	8
action:	.quad	handler, SA_RESTORER, restorer, 0
failed:	.long	1
text:	.ascii	"hello through int3\n"
text_end:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// lock-nop: lock before an instruction that may not have it. #UD arrives as SIGILL.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_rt_sigreturn 15
#define SYS_exit	60
#define SIGILL		4
#define SA_SIGINFO	4
#define SA_RESTORER	0x04000000
#define UC_RIP		168		// offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGILL, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall
	.byte	0xf0, 0x90		// lock nop, which assemblers refuse to make
	mov	$SYS_exit, %eax		// here only if the handler was run and came back
	mov	failed(%rip), %edi
	syscall

// void handler(int signal, siginfo_t *info = rsi, ucontext_t *context = rdx)
handler:
	addq	$2, UC_RIP(%rdx)	// a fault: rip is still at the prefix, two bytes to skip
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
action:	.quad	handler, SA_SIGINFO | SA_RESTORER, restorer, 0
failed:	.long	1
text:	.ascii	"hello through lock-nop\n"
text_end:
	.section .note.GNU-stack, "", @progbits

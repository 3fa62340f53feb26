// gcc -nostdlib -static -no-pie -o hello hello.S
// page-fault: a read of a page that may not be read. #PF arrives as SIGSEGV; the handler opens the
// page, and the same instruction, executed again, goes through.
#define SYS_write	1
#define SYS_mmap	9
#define SYS_mprotect	10
#define SYS_rt_sigaction 13
#define SYS_rt_sigreturn 15
#define SYS_exit	60
#define SIGSEGV		11
#define SA_SIGINFO	4
#define SA_RESTORER	0x04000000
#define SI_ADDR		16		// offsetof(siginfo_t, si_addr): what the CPU left in CR2
#define PROT_READ	1
#define PROT_NONE	0
#define MAP_PRIVATE_ANONYMOUS 0x22
#define PAGE		4096

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	$SYS_mmap, %eax		// an address that is ours, with nothing behind it
	xor	%edi, %edi
	mov	$PAGE, %esi
	mov	$PROT_NONE, %edx
	mov	$MAP_PRIVATE_ANONYMOUS, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	syscall
	mov	%rax, page(%rip)
	mov	(%rax), %al		// faults twice: SIGSEGV first, then quietly for the page itself

	mov	$SYS_exit, %eax		// here only if the handler was run and came back
	mov	failed(%rip), %edi
	syscall

// void handler(int signal, siginfo_t *info = rsi, ucontext_t *context)
handler:
	mov	SI_ADDR(%rsi), %rdi
	cmp	%rdi, page(%rip)
	jne	1f			// some other fault: opening it would be a lie
	mov	$SYS_mprotect, %eax
	mov	$PAGE, %esi
	mov	$PROT_READ, %edx
	syscall
	mov	$SYS_write, %eax
	mov	$1, %edi
	mov	$text, %esi
	mov	$text_end - text, %edx
	syscall
	movl	$0, failed(%rip)
	ret				// to the restorer, whose address the kernel pushed
1:	mov	$SYS_exit, %eax
	mov	$1, %edi
	syscall

restorer:
	mov	$SYS_rt_sigreturn, %eax	// rsp is at the frame: every register comes back from it
	syscall

	.data
	.balign	8
action:	.quad	handler, SA_SIGINFO | SA_RESTORER, restorer, 0
page:	.quad	0
failed:	.long	1
text:	.ascii	"hello through page-fault\n"
text_end:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// ring1-x86_64: write(2) by a far call to selector 0xb3, the call gate at 0xb0 of the lab's GDT
// to ring 1, from where it goes on to the kernel. Linux's GDT ends before that: #GP.
//	kentry lab --exec hello
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	$SYS_write, %eax	// number in rax; arguments in rdi, rsi, rdx, r10, r8, r9
	mov	$1, %edi
	mov	$text, %esi
	mov	$text_end - text, %edx
	lcall	*gate			// comes back by lretq from ring to ring; only rax has changed
	cmp	$text_end - text, %eax
	mov	$SYS_exit, %eax
	setne	%dil
	movzbl	%dil, %edi
	syscall

no_gate:
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
action:	.quad	no_gate, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
gate:	.long	0			// 64-bit code can name a far address only in memory: offset,
	.word	0xb3			// which a gate ignores, and selector
text:	.ascii	"hello through ring1-x86_64\n"
text_end:
closed:	.ascii	"closed: #GP, this kernel keeps no call gate at 0xb0 of the GDT (the lab does)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

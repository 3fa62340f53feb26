// gcc -nostdlib -static -no-pie -o hello hello.S
// int80-x86_64: write(2) by int $0x80 out of 64-bit code. The gate knows only the i386 ABI: its
// call numbers, its registers, and pointers cut to 32 bits (hence -static -no-pie).
#define I386_write	4		// not 1: under the i386 numbers that is exit
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// a kernel without the gate answers #GP, which is SIGSEGV
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	mov	$I386_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80			// comes back by iretq; only rax has changed
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
text:	.ascii	"hello through int80-x86_64\n"
text_end:
closed:	.ascii	"closed: the int $0x80 gate is shut (no CONFIG_IA32_EMULATION, or ia32_emulation=0)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

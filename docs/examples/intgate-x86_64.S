// gcc -nostdlib -static -no-pie -o hello hello.S
// intgate-x86_64: write(2) by int $0x80 out of 64-bit code, through an interrupt gate. A program
// cannot see the type of a gate: this one asks whether it is in the lab, where vector 0x80
// has an interrupt gate unless switched.
//	kentry lab --exec hello
#define I386_write	4		// not 1: under the i386 numbers that is exit
#define SYS_write	1
#define SYS_exit	60
#define AT_LAB		0x6c6162	// only the lab has it in the auxiliary vector
#define SKIPPED		77

	.globl	_start
	.text
_start:	lea	8(%rsp), %rsi		// rsp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsq
	test	%rax, %rax
	jnz	1b
	loop	1b
2:	lodsq				// type, value; type 0 is the end
	mov	%rax, %rdx
	lodsq
	cmp	$AT_LAB, %rdx
	je	in_lab
	test	%rdx, %rdx
	jnz	2b

	mov	$SYS_write, %eax
	mov	$1, %edi
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	syscall
	mov	$SYS_exit, %eax
	mov	$SKIPPED, %edi
	syscall

in_lab:	mov	$I386_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80			// comes back by iretq; only rax has changed
	cmp	$text_end - text, %eax
	mov	$SYS_exit, %eax
	setne	%dil
	movzbl	%dil, %edi
	syscall

	.section .rodata
text:	.ascii	"hello through intgate-x86_64\n"
text_end:
closed:	.ascii	"closed: this is not the lab (on Linux, int80-x86_64 goes through an interrupt gate, too)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

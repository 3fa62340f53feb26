// gcc -nostdlib -static -no-pie -o hello hello.S
// interrupt: raises the vector that the lab gives to programs, and says so by syscall. The kernel
// allows it to programs for which exceptions are system calls:
//	kentry lab --serve-exceptions --exec hello
#define SYS_write	1
#define SYS_exit	60
#define AT_LAB		0x6c6162	// only the lab has it in the auxiliary vector
#define VECTOR		0x40
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

	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	mov	$SKIPPED, %ebx
	jmp	say

in_lab:	mov	$VECTOR, %ebx
	int	$VECTOR			// comes back by iretq; no register has changed
	cmp	$VECTOR, %ebx
	setne	%bl
	movzbl	%bl, %ebx
	mov	$text, %esi
	mov	$text_end - text, %edx

say:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	mov	$SYS_exit, %eax
	mov	%ebx, %edi
	syscall

	.section .rodata
text:	.ascii	"hello through interrupt\n"
text_end:
closed:	.ascii	"closed: this is not the lab (on Linux, int with this vector is SIGSEGV)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

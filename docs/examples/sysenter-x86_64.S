// gcc -nostdlib -static -no-pie -o hello hello.S
// sysenter-x86_64: write(2) by sysenter out of 64-bit code. The instruction saves nothing, so a
// convention has to say where to come back to and with which stack: in the lab r11 and rcx. Linux has
// none for 64-bit code, and would go on in 32-bit code at half an address; so this asks first whether
// it is in the lab.
//	kentry lab --exec hello
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

in_lab:	mov	$SYS_write, %eax	// number in rax; arguments in rdi, rsi, rdx, r10, r8, r9
	mov	$1, %edi
	mov	$text, %esi
	mov	$text_end - text, %edx
	mov	%rsp, %rcx		// what sysexit takes back
	mov	$back, %r11d		// sysexit takes it from rdx, which is an argument on the way in
	sysenter			// AMD raises #UD
back:	cmp	$text_end - text, %eax	// rcx, rdx and r11 have changed
	mov	$SYS_exit, %eax
	setne	%dil
	movzbl	%dil, %edi
	syscall

	.section .rodata
text:	.ascii	"hello through sysenter-x86_64\n"
text_end:
closed:	.ascii	"closed: this is not the lab, and Linux takes sysenter from 32-bit code only\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

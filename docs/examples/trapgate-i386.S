// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// trapgate-i386: write(2) by int $0x80 from a 32-bit process, through a trap gate. A program
// cannot see the type of a gate: this one asks whether it is in the lab, where vector 0x80
// has an interrupt gate until switched.
//	kentry lab --set gate=trap --exec hello
#define SYS_exit	1
#define SYS_write	4
#define AT_LAB		0x6c6162	// only the lab has it in the auxiliary vector
#define SKIPPED		77

	.globl	_start
	.text
_start:	lea	4(%esp), %esi		// esp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsl
	test	%eax, %eax
	jnz	1b
	loop	1b
2:	lodsl				// type, value; type 0 is the end
	mov	%eax, %edx
	lodsl
	cmp	$AT_LAB, %edx
	je	in_lab
	test	%edx, %edx
	jnz	2b

	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

in_lab:	mov	$SYS_write, %eax	// number in eax; arguments in ebx, ecx, edx, esi, edi, ebp
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80			// comes back by iretq, which leaves 64-bit mode; only eax has changed
	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

	.section .rodata
text:	.ascii	"hello through trapgate-i386\n"
text_end:
closed:	.ascii	"closed: this is not the lab, and Linux has an interrupt gate at vector 0x80\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// lcall7-i386: write(2) by a far call to selector 7, where System V, iBCS and Mach kept a call
// gate. The offset in the instruction is ignored; the gate holds the real one. Linux no longer
// installs it, so expect #GP; a kernel that has it (kentry's lab does) takes the call.
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGSEGV		11
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	lcall	$7, $0			// index 0 of the LDT, asked for with RPL 3
	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

no_gate:
	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_gate, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through lcall7-i386\n"
text_end:
closed:	.ascii	"closed: selector 7 leads nowhere, this kernel keeps no call gate in the LDT\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

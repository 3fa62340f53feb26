// gcc -nostdlib -static -no-pie -o hello hello.S
// call: a call through a pointer and the return from it. No privilege changes; the hello itself
// has to be written by a system call, because nothing else reaches the terminal.
#define SYS_write	1
#define SYS_exit	60

	.globl	_start
	.text
_start:	call	*target(%rip)		// indirect, as the vDSO and every C pointer are called
	mov	%rax, %rdx		// what came back is the length: proof that it went there
	mov	$SYS_write, %eax
	mov	$1, %edi
	mov	$text, %esi
	syscall
	mov	$SYS_exit, %eax
	xor	%edi, %edi
	syscall

// long callee(void): the whole of the entry that kentry times is this call and this ret.
callee:	mov	$text_end - text, %eax
	ret

	.data
	.balign	8
target:	.quad	callee			// in memory, so that the CPU has to predict the target
text:	.ascii	"hello through call\n"
text_end:
	.section .note.GNU-stack, "", @progbits

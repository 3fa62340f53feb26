/* Says that it runs, and then runs for ever. */
#include <asm/unistd_64.h>

	.text
	.globl	_start
_start:	mov	$__NR_write, %eax
	mov	$1, %edi
	mov	$said, %esi
	mov	$1, %edx
	syscall
1:	pause
	jmp	1b

	.section .rodata
said:	.ascii	"!"

	.section .note.GNU-stack, "", @progbits

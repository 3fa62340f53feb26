/* Where a program begins; and the traps as GNU Mach's own header makes them, by its macro for this processor. */
#include <mach/syscall_sw.h>

	.globl _start
_start:
#ifdef __x86_64__
	and	$-16, %rsp
	call	run
	ud2
#else
	and	$-16, %esp
	call	run
	ud2
#endif

	.section .note.GNU-stack, "", @progbits

/*
 * vsyscall=native: the fixed page with code that makes the system calls, as Linux once offered it. vsyscall.lds places
 * the functions.
 * In: rdi, rsi, rdx, as the C functions. Out: rax. Changes rcx, r11.
 */
#include "machine.h"

	.section .text.gettimeofday, "ax", @progbits
	mov	$NR_GETTIMEOFDAY, %rax
	syscall
	ret

	.section .text.time, "ax", @progbits
	mov	$NR_TIME, %rax
	syscall
	ret

	.section .text.getcpu, "ax", @progbits
	mov	$NR_GETCPU, %rax
	syscall
	ret

	.section .note.GNU-stack, "", @progbits

/* How DISPATCH of steps.inc calls a service other than through the table. */
#include "entry/returns.h"
#include "direct_calls.h"

	.text
/*
 * Calls what r11 points to. The ret is predicted to go where the call was, into a loop that ends nothing, and goes to r11.
 * Lost: what the function loses. __x86_indirect_thunk_r11 of Linux (arch/x86/lib/retpoline.S).
 */
	.balign	32, 0xcc
	.globl	retpoline_r11
retpoline_r11:
	call	2f
1:	pause
	lfence
	jmp	1b
2:	mov	%r11, (%rsp)
	RETURN

/*
 * The service for the number in eax, jumped to: a binary tree of comparisons, made from user/calls.def by the build. All registers are
 * as they were called with. x64_sys_call of Linux (arch/x86/entry/syscall_64.c, since 6.9).
 */
	.balign	16, 0xcc
	.globl	direct_x86_64, direct_i386
direct_x86_64:
	DIRECT_X86_64
	.balign	16, 0xcc
direct_i386:
	DIRECT_I386

/* The same for a trap of GNU Mach (mach/traps.def), by its number without the sign. */
	.globl	direct_traps
	.balign	16, 0xcc
direct_traps:
	DIRECT_TRAPS

	.section .note.GNU-stack, "", @progbits

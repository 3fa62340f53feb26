/* How DISPATCH of steps.inc calls a service other than through the table. */
#include "entry/returns.h"
#include "direct_calls.h"

	.text
/*
 * Calls what eax points to. The ret is predicted to go where the call was, into a loop that ends nothing, and goes to eax.
 * Lost: what the function loses. __x86_indirect_thunk_eax of Linux (arch/x86/lib/retpoline.S).
 */
	.balign	32, 0xcc
	.globl	retpoline_eax
retpoline_eax:
	call	2f
1:	pause
	lfence
	jmp	1b
2:	mov	%eax, (%esp)
	RETURN

/*
 * The service for the number in eax, jumped to: a binary tree of comparisons, made from user/calls.def by the build. All registers are
 * as they were called with. ia32_sys_call of Linux (arch/x86/entry/syscall_32.c, since 6.9).
 */
	.balign	16, 0xcc
	.globl	direct_i386
direct_i386:
	DIRECT_I386

/* The same for a trap of GNU Mach (mach/traps.def), by its number without the sign. */
	.globl	direct_traps
	.balign	16, 0xcc
direct_traps:
	DIRECT_TRAPS

	.section .note.GNU-stack, "", @progbits

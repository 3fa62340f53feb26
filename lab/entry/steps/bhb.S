/*
 * bhb=loop: on the way in, a loop fills the history of branches with its own, so that what a program has branched to does not choose
 * which predictions the kernel's indirect branches follow. Linux: clear_bhb_loop (arch/x86/entry/entry_64.S, as
 * of 6.9; since 6.15 its returns are moved to the upper halves of their lines), at system calls and not at exceptions. bhb=hardware is no step, but a bit of SPEC_CTRL (speculation.c).
 */
#include "entry/path.inc"
#include "entry/returns.h"

ATTACH IN_KERNEL, 64
STEP "branch history: clear it", SWITCH_BHB, IS(BHB_LOOP), ENTERED_BY, NOT(BY_EXCEPTION)
	EXECUTES 5+4+5*19+6+4	# the step; before the loop, its turns, its returns, and behind it
	EXECUTES_MORE 7, SWITCH_RETURNS, NOT(RETURNS_PLAIN)
	push	%AX
	push	%CX
	CALL_C	clear_branch_history
	pop	%CX
	pop	%AX
END_ATTACH

/*
 * void clear_branch_history(void)
 * Lost: rax, rcx, flags. Five times five taken branches, in calls that do not return until the end; instruction by instruction as
 * Linux has it, and aligned as there.
 */
	.text
	.balign	64, 0xcc
	.globl	clear_branch_history
	.type	clear_branch_history, @function
clear_branch_history:
	push	%BP
	mov	%SP, %BP
	mov	$5, %ecx
	call	1f
	jmp	5f
	.balign	64, 0xcc
1:	call	2f
	RETURN
	.balign	64, 0xcc
2:	mov	$5, %eax
3:	jmp	4f
	nop
4:	sub	$1, %eax
	jnz	3b
	sub	$1, %ecx
	jnz	1b
	RETURN
5:	lfence
	pop	%BP
	RETURN
	.size	clear_branch_history, . - clear_branch_history

	.section .note.GNU-stack, "", @progbits

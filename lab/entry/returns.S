/*
 * Where returns jump to (returns.c), and how returns are untrained, as in arch/x86/lib/retpoline.S of Linux (since 5.19, and since 6.5 for
 * Zen 3 and 4). AMD's Zen predicts a return by its address alone, before it is decoded: what a program has trained at an address that
 * collides with the kernel's makes a return of the kernel follow the program's target. So the kernel returns at one place, and what
 * is predicted there is thrown away on entry. On other processors the sequence of Zen 1 and 2 is executed, to no purpose.
 */
#include "entry/layout.h"
#include "entry/returns.h"

#ifdef __x86_64__
#define DROP_WORD lea 8(%rsp), %rsp
#else
#define DROP_WORD lea 4(%esp), %esp
#endif

	.text
	.globl	return_thunk, untrain_returns
/* returns=thunk */
	.balign	64, 0xcc
return_thunk:
	ret
	int3

/* void untrain_returns(void), called by a path; lost: flags. returns.c makes a jump of it to one of the two below. */
	.balign	16, 0xcc
untrain_returns:
	ret
	.fill	RETURN_BYTES - 1, 1, 0xcc

/*
 * Zen 1 and 2: retbleed_untrain_ret and retbleed_return_thunk. From its own beginning this is
 *	test	$0xcc, %bl
 *	lfence
 *	jmp	return_thunk_zen2
 * and the first instruction throws away what is predicted one byte further, where no instruction begins now. The ret is at the beginning
 * of a line of 64 bytes, for so its entry in the predictor is aligned; the test contains its byte and does not end with it.
 */
	.globl	untrain_zen2, return_thunk_zen2
	.balign	64, 0xcc
	.skip	64 - 1, 0xcc
untrain_zen2:
	.byte	0xf6
return_thunk_zen2:
	ret
	int3
	lfence				# until the test is decoded, and the prediction gone
	jmp	return_thunk_zen2
	int3

/*
 * Zen 3 and 4: srso_alias_untrain_ret, srso_alias_safe_ret and srso_alias_return_thunk. Entries of the predictor collide whose addresses
 * differ in bits 2, 8, 14 and 20 alone. The page is mapped twice (mm/tables.c), at UNTRAIN_PAGE and SAFE_RETURN_PAGE, and the offset
 * in the page adds bits 2 and 8: executing the first throws away what is predicted at the second. Labels with _here are
 * places in the kernel's image, where nothing is executed.
 */
	.section .returns_page, "ax"
	.globl	returns_page, untrain_zen4, return_thunk_zen4
	.balign	4096, 0xcc
returns_page:
untrain_zen4_here:
	.byte	0x66, 0x90		# a nop of two bytes
	lfence
	jmp	return_thunk_zen4_here + (SAFE_RETURN_PAGE - UNTRAIN_PAGE)
	.org	SAFE_RETURN_OFFSET, 0xcc
safe_return_here:
	DROP_WORD
	ret
	int3
return_thunk_zen4_here:
	call	safe_return_here	# in the same mapping, as all that is here is
	ud2
	.balign	4096, 0xcc

	.set	untrain_zen4, UNTRAIN_PAGE + (untrain_zen4_here - returns_page)
	.set	return_thunk_zen4, SAFE_RETURN_PAGE + (return_thunk_zen4_here - returns_page)

	.section .note.GNU-stack, "", @progbits

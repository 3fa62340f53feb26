/* What paths tell tlb_log.c. They have neither stack nor registers for more than a store. */
#include "entry/path.inc"

	.section .cpu_variables, "aw"
	.globl	kernel_cr3_written, user_cr3_written, user_cr3_flushed, program_ran
	.balign 64
kernel_cr3_written:			# what TLB_NOTE_CR3 noted last (lab/mm/tlb.inc)
	.quad	0
user_cr3_written:
	.quad	0
user_cr3_flushed:			# what TLB_NOTE_FLUSH noted
	.quad	0
program_ran:
	.quad	0

ATTACH OUT_LATE, 99
STEP "note that a program runs", ENTERED_BY, NOT(BY_EXCEPTION)
	movb	$1, program_ran
STEP "note that a program runs", ENTERED_BY, IS(BY_EXCEPTION)
	testb	$3, 8(%rsp)		# cs of the frame for iret: an exception of the kernel goes back to it
	jz	1f
	movb	$1, program_ran
1:
END_ATTACH

	.section .note.GNU-stack, "", @progbits

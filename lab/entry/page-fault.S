/*
 * Page faults in Linux's order (asm_exc_page_fault). With order=lab they take the path of all exceptions (exception.S), and this one is empty.
 *
 * As idtentry.inc has it, with an error code, IF cleared, and CR2 the address. The page tables are the kernel's when it came from there: the kernel
 * faults where it reaches for a program's memory, and in a path does so only behind the change of tables, GS and SPEC_CTRL. Where it tries
 * programs' page tables itself, their faults take the path of all exceptions (hardware_point_page_faults).
 */
#include "entry/idtentry.inc"

#define PAGE_FAULT 14		/* its vector */

PATH page_fault, BY_KERNEL
ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
IDTENTRY PAGE_FAULT, pushed, 76f, 74f

/* restore_regs_and_return_to_kernel: from the copy, for iretq loads rsp, too. */
STEP "restore registers, to the kernel"
74:	RESTORE_ALL
	add	$16, %rsp
STEP "iret, to the kernel"
	iretq

/* A fault of the kernel's: GS, page tables and SPEC_CTRL are the kernel's. The copy lies below, where nothing is. */
STEP "a fault of the kernel's"
76:
/* Where the branch is mispredicted, nothing may be read by the GS of a program; Linux has it with isolation, too (FENCE_SWAPGS_KERNEL_ENTRY). */
STEP "swapgs: fence, from the kernel", SWITCH_SWAPGS, IS(SWAPGS_FENCE)
	lfence
STEP "C: from the kernel"
	pop	%r12			# the return address
	mov	%rsp, %rsi
	PUSH_AS_STRUCT_FRAME %rsi, PAGE_FAULT
	push	%r12
RETURN_FROM_PATH

/* exc_page_fault: rdi is the frame, rsi the error code, which it does not have any more. */
STEP "C: handle"
72:	mov	%rsi, FRAME_ERROR(%rdi)
	mov	%rdi, %rbx
	CALL_C	exception
STEP "work: is there any on the way out to a program", SWITCH_WORK, IS(WORK_ON)
	testb	$SELECTOR_RING, FRAME_CS(%rbx)
	jz	1f
	mov	current, %rcx
	cmpl	$0, THREAD_WORK(%rcx)
	je	1f
	CALL_C	work_on_the_way_out
1:
RETURN_FROM_PATH
ALL_END
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * Page faults in Linux's order (asm_exc_page_fault, error_entry, error_return in arch/x86/entry/entry_64.S). With order=lab they take the path
 * of all exceptions (exception.S), and this one is empty.
 *
 * The hardware has: switched to the entry stack when it came from a program, else stayed on the kernel's; pushed ss, rsp, rflags, cs, rip and
 * an error code; cleared IF, TF, NT. AC and DF are unchanged. CR2 is the address. Page tables are the program's, or the kernel's when it came
 * from there: the kernel faults where it reaches for a program's memory, and in a path does so only behind the change of tables, GS and
 * SPEC_CTRL. Where it tries programs' page tables itself,
 * their faults take the path of all exceptions (hardware_point_page_faults).
 *
 * Linux has an address and an error code below which the registers lie; a struct frame has one word more, the vector. What stands for sync_regs
 * puts it in.
 */
#include "entry/linux.inc"

#define ERROR_ENTRY_CS	   (18 * 8)	/* behind the return address of error_entry: of what it pushes below the error code */
#define PAGE_FAULT	   14		/* its vector */

PATH page_fault, BY_KERNEL
ALL_WITH SWITCH_ORDER, NOT(ORDER_LAB)
STEP "idle: endbr64", IDLE, SINCE_6_12, SWITCH_IBT, NOT(IBT_ON)
	endbr64
STEP "SMAP: close", SWITCH_SMAP, IS(SMAP_ON)
	clac
IDLE_NOP "SMAP", 3, SWITCH_SMAP, IS(SMAP_OFF)
STEP "clear the direction flag", SINCE_6_1
	cld
STEP "call error_entry"
	CALL_C	71f
STEP "to the thread's stack", SINCE_6_1
	mov	%rax, %rsp
STEP "pass the frame and the error code"
	mov	%rsp, %rdi
	mov	FRAME_ERROR(%rsp), %rsi
	movq	$-1, FRAME_ERROR(%rsp)
STEP "call what serves"
	CALL_C	72f
STEP "to error_return"
	JUMP	73f
STEP "error_return"
73:	testb	$SELECTOR_RING, FRAME_CS(%rsp)
	BRANCH	JE, 74f
	JUMP	75f
STEP "swapgs_restore_regs_and_return_to_usermode"
75:
RETURN_BY_IRET FRAME_RIP

/* restore_regs_and_return_to_kernel: from the copy, for iretq loads rsp, too. */
STEP "restore registers, to the kernel"
74:	RESTORE_ALL
	add	$16, %rsp
STEP "iret, to the kernel"
	iretq

STEP "error_entry"
71:
STEP "clear the direction flag", IN_5_10
	cld
STEP "error_entry: save registers", FRAMED
	push	%rsi
	mov	8(%rsp), %rsi		# the return address
	mov	%rdi, 8(%rsp)
	push	%rdx
	push	%rcx
	push	%rax
	PUSH_BELOW_RAX
	push	%rsi
CLEAR_AS_LINUX
STEP "swapgs: is it a program's"
	testb	$SELECTOR_RING, ERROR_ENTRY_CS(%rsp)
	BRANCH	JE, 76f
STEP "swapgs: to the kernel's base", SWITCH_SWAPGS, NOT(SWAPGS_OFF)
	swapgs
STEP "swapgs: fence", SWITCH_SWAPGS, IS(SWAPGS_FENCE), SWITCH_PTI, NOT(PTI_ON)
	lfence
IDLE_NOP "a fence", 3, SWITCH_SWAPGS, NOT(SWAPGS_FENCE)
IDLE_NOP "a fence", 3, SWITCH_SWAPGS, IS(SWAPGS_FENCE), TABLES
TO_KERNEL_AS_LINUX %rax
CR3_WRITES_AS_LINUX
AGAINST_SPECULATION_AS_LINUX
STEP "copy-frame: pass the frame", COPIED, IN_5_10
	pop	%r12
	mov	%rsp, %rdi
	CALL_C	77f
	mov	%rax, %rsp
	push	%r12
STEP "copy-frame: pass the frame", COPIED, SINCE_6_1
	lea	8(%rsp), %rdi
STEP "copy-frame: to the thread's stack", COPIED, IN_6_1
	CALL_C	77f
STEP "copy-frame: to the thread's stack", COPIED, SINCE_6_12
	JUMP	77f
RETURN_FROM_PATH UNTIL_6_1

/* sync_regs: copies the frame at rdi to the top of the thread's stack, with the vector in it, and returns where it is. */
STEP "C: sync_regs"
77:	mov	%rdi, %rsi
	mov	kernel_stack, %rdi
	sub	$(FRAME_WORDS * 8), %rdi
STEP "C: a struct frame"
78:	mov	%rdi, %rax
	mov	$(FRAME_VECTOR / 8), %ecx
	rep movsq
	movq	$PAGE_FAULT, (%rdi)
	add	$8, %rdi
	mov	$(FRAME_WORDS - FRAME_VECTOR / 8 - 1), %ecx
	rep movsq
STEP "C: return from sync_regs"
RETURN_FROM_PATH

/* A fault of the kernel's: GS, page tables and SPEC_CTRL are the kernel's. The copy lies below, where nothing is. */
STEP "a fault of the kernel's"
76:
/* Where the branch is mispredicted, nothing may be read by the GS of a program; Linux has it with isolation, too (FENCE_SWAPGS_KERNEL_ENTRY). */
STEP "swapgs: fence, from the kernel", SWITCH_SWAPGS, IS(SWAPGS_FENCE)
	lfence
STEP "C: from the kernel"
	pop	%r12			# the return address
	mov	%rsp, %rsi
	lea	-(FRAME_WORDS * 8)(%rsp), %rdi
	lea	-8(%rdi), %rsp
	mov	%r12, (%rsp)
	JUMP	78b

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

/*
 * All exceptions and interrupts that are not system calls: page faults, the tick, faults of programs and of the kernel,
 * interrupts that nobody asked for.
 *
 * The hardware has: switched to the entry stack, or one of the IST, when it came from a program; pushed ss, rsp, rflags,
 * cs, rip and for some vectors an error code; cleared IF, TF, NT. AC and DF are unchanged. It may have come at
 * any instruction, even in a path: the page tables may be the kernel's or the program's, and are restored at the end.
 */
#include "entry/espfix.inc"
#include "entry/speculation.inc"
#include "entry/steps.inc"

/* Vectors with an error code: #DF, #TS, #NP, #SS, #GP, #PF, #AC, #CP (SDM vol. 3, 6.13); AMD's #VC, #SX (APM vol. 2, 8.2). */
#define WITH_ERROR_CODE 0x60227d00
/* #NMI, #DF, #MC come whenever they like. */
#define AT_ANY_TIME 0x00040104

	.section .trampoline, "ax"
.macro STUBS bytes, landing
	.set	vector, 0
	.rept	32
	.balign	\bytes
	\landing
	.if	!((WITH_ERROR_CODE >> vector) & 1)
	push	$0
	.endif
	push	$vector
	.if	(AT_ANY_TIME >> vector) & 1
	jmp	exception_at_any_time
	.else
	jmp	*path_exception
	.endif
	.set	vector, vector + 1
	.endr
	.rept	224			# interrupts
	.balign	\bytes
	\landing
	push	$0
	push	$vector
	jmp	*path_exception
	.set	vector, vector + 1
	.endr
.endm

	/* So that the boot's table can have their addresses (kernel.lds), and both kinds differ in 16 bits (gates_land). */
	.balign 16384
	.globl	exception_stubs, landing_stubs
exception_stubs:
	STUBS	EXCEPTION_STUB_SIZE
	.balign	LANDING_STUB_SIZE
landing_stubs:				# the same, for ibt=on
	STUBS	LANDING_STUB_SIZE, endbr64

/*
 * NMI, #MC and #DF, and every exception before there are paths. It is no path, because these may come while the paths are
 * being rebuilt, and is the same in every configuration.
 *
 * It comes at any instruction, so it must not rely on the following, and does not:
 * - The stack. In the first instructions of syscall's path rsp is the program's, any number; a few later it is a value for
 *   CR3; after sysenter it may point to a stack that the tables do not map. The three vectors have stacks of their
 *   own (IST), which both page tables map. rsp is saved and restored as a number, which iretq in ring 0 does not look at.
 * - The page tables. CR3 says which they are: the two tops are adjacent, so that PROGRAM_TOP_BIT tells them apart; of the
 *   boot's tables it is 0. CR3 is written only where it holds the program's tables. So a path that is about to write it is
 *   not disturbed; nor is tables_configure while it changes CR4 and both values, nor tables_enter while it changes both
 *   for another address space, because these run on the kernel's.
 * - Bit 63 of CR3. It never reads as 1. What is written back is therefore not what was read but user_cr3, which has the bit
 *   where PCID keeps translations. If the first half of load_both (mm/flush.c), or a path that found the identifier in
 *   user_flush_mask, has just loaded the program's tables without the bit,
 *   that flush has happened, and loading them again with it flushes no less. The kernel's identifier, whose flush is the
 *   second half, may have old translations until then, even of another address space: all are of programs' addresses or
 *   of the vsyscall page, which nothing here touches.
 * - CR2. Nothing here faults, so a page fault that has yet to read it finds its own address.
 * - GS: its base is the kernel's or, before the first swapgs and behind the last, the program's (steps/swapgs.S). It stays what it
 *   is: no C code uses it. AC: it lets the kernel reach the program's memory, and nothing here does.
 * - program_rsp, gate_frame, landing_pad and what else belongs to paths: not touched.
 *
 * - SPEC_CTRL. It is read, and what was there is written back: in the first instructions of a path, and in the last, IBRS is off. A
 *   path that is about to write it is not disturbed; nor is speculation_configure. That changes any_time_steps only while this
 *   cannot differ between the beginning and the end: no handler of these vectors changes it.
 * - Returns. They are rewritten in an order in which each is one at any time (returns.c).
 *
 * any_time_steps tells what of a path's steps is done here, too: which is asked, since this is the same in every configuration.
 *
 * An iretq that faults (the program has made its stack segment unusable) ends the program, as in all paths.
 */
	.balign	16
	.globl	exception_at_any_time, exception_return, exception_iret
exception_at_any_time:
	SAVE_ALL
	cld
	mov	%cr3, %rbx
	test	$PROGRAM_TOP_BIT, %ebx
	jz	1f
	mov	kernel_cr3, %rax
	mov	%rax, %cr3
1:	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_ENTER %r15
1:	testb	$ANY_TIME_IBPB, any_time_steps
	jz	1f
	IBPB
1:	testb	$ANY_TIME_UNTRAIN, any_time_steps
	jz	1f
	call	untrain_returns
1:	mov	%rsp, %rdi
	call	exception		# 16 bytes aligned: the processor, two words, and fifteen
	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_EXIT %r15
1:	test	$PROGRAM_TOP_BIT, %ebx
	jz	exception_return
	mov	user_cr3, %rax
	mov	%rax, %cr3
exception_return:
	RESTORE_ALL
	add	$16, %rsp
	TEST_RING	GATE_CS
	jz	exception_iret
	testb	$ANY_TIME_ESPFIX, any_time_steps
	jz	1f
	cmpw	$SELECTOR_DATA_16, GATE_SS(%rsp)
	jne	1f
	TO_OTHER_PLACE GATE_SS, GATE_RSP, GATE_FLAGS, GATE_CS, GATE_RIP
1:	testb	$ANY_TIME_VERW, any_time_steps
	jz	exception_iret
	verw	verw_selector
exception_iret:
	iretq

/*
 * What has come from the kernel by a path in Linux's order (idtentry.inc), with whatever tables, GS and SPEC_CTRL: all that the path has pushed is
 * taken back, and it takes the path of all exceptions. On the stack are a return address, the registers, and the word in the place of an error code.
 */
.macro OWN_EXCEPTION vector
	.globl	own_exception_\vector
own_exception_\vector:
	add	$8, %rsp
	RESTORE_ALL
	add	$8, %rsp
	jmp	exception_stubs+\vector*EXCEPTION_STUB_SIZE
.endm

	OWN_EXCEPTION 0
	OWN_EXCEPTION 3
	OWN_EXCEPTION 6
	OWN_EXCEPTION 128

/* What has come from a program by such a path, and is no system call: rsp points to the frame. No handler of these returns for a program. */
	.globl	foreign_exception
foreign_exception:
	movq	$0, FRAME_ERROR(%rsp)
	mov	%rsp, %rdi
	call	exception
	ud2

PATH exception, BY_EXCEPTION
HOOK IN_EARLY
STEP "save registers"
	SAVE_ALL
STEP "clear registers", SWITCH_CLEAR_REGISTERS, IS(CLEAR_REGISTERS_ON), SWITCH_STACK, IS(STACK_FRAME)
	.irp	register, eax, ecx, edx, ebx, esi, r8d, r9d, r10d, r11d, r12d, r13d, r14d, r15d
	xor	%\register, %\register	# rdi and rbp get other values
	.endr
STEP "PTI: note the page tables", TABLES
	mov	%cr3, %rbx
TO_KERNEL_TABLES %rax, lost
HOOK IN_KERNEL
HOOK IN_SAVED
STEP "handle"
	mov	%rsp, %rdi
	mov	%rsp, %rbp
STEP "PTI: off the entry stack", TRAMPOLINE, SWITCH_COPY_FRAME, IS(COPY_FRAME_OFF)
	TEST_RING	FRAME_CS
	jz	1f
	mov	kernel_stack, %rsp
1:
STEP "copy-frame: to the thread's stack", COPIED
	TEST_RING	FRAME_CS
	jz	1f
	COPY_WHOLE_FRAME %rdi
1:
STEP "handle"
	CALL_C	exception
	mov	%rbp, %rsp
HOOK OUT_SAVED
STEP "copy-frame: is it a program's", COPIED
	TEST_RING	FRAME_CS
	BRANCH	JNE, 52f
STEP "PTI: were they the program's", TABLES
	/* CR3 reads without the bit that keeps the translations (PCID), so the value only tells which of the two it was. */
	test	$PROGRAM_TOP_BIT, %ebx
	BRANCH	JE, 51f
TO_PROGRAM_TABLES %rax, lost
STEP "restore registers"
51:	RESTORE_ALL
	add	$16, %rsp
HOOK OUT_LATE
STEP "iret"
1:	iretq
	FAULT	1b, 0
STEP "restore registers", COPIED
52:	RESTORE_ALL
	add	$16, %rsp
COPY_OUT 5
TO_PROGRAM_TABLES %rax, kept, COPIED
HOOK OUT_LATE, COPIED
STEP "iret", COPIED
1:	iretq
	FAULT	1b, 0
END_PATH

	.section .note.GNU-stack, "", @progbits

/*
 * All exceptions and interrupts that are not system calls: page faults, the tick, faults of programs and of the kernel.
 *
 * The hardware has: switched to the entry stack, or one of the IST, when it came from a program; pushed ss, rsp, rflags,
 * cs, rip and for some vectors an error code; cleared IF, TF, NT. AC and DF are unchanged. It may have come at
 * any instruction, even in a path: the page tables may be the kernel's or the program's, and are restored at the end.
 */
#include "entry/steps.inc"

/* Vectors with an error code: #DF, #TS, #NP, #SS, #GP, #PF, #AC, #CP (SDM vol. 3, 6.13). */
#define WITH_ERROR_CODE 0x00227d00

	.section .trampoline, "ax"
	.balign EXCEPTION_STUB_SIZE
	.globl	exception_stubs
exception_stubs:
	.set	vector, 0
	.rept	34			# VECTOR_STUBS
	.balign	EXCEPTION_STUB_SIZE
	.if	vector == 2
	/*
	 * An NMI (a button, a watchdog; this kernel asks for none) may come at any instruction, even while paths are built
	 * or the page tables change: it needs no path, and no data but what all page tables map.
	 */
	incq	nmi_count
	iretq
	.else
	.if	!((WITH_ERROR_CODE >> vector) & 1)
	push	$0
	.endif
	push	$vector
	jmp	*path_exception
	.endif
	.set	vector, vector + 1
	.endr

PATH exception, BY_EXCEPTION
HOOK IN_EARLY
STEP "save registers"
	SAVE_ALL
STEP "PTI: note the page tables", SWITCH_PTI, IS(PTI_ON)
	mov	%cr3, %rbx
TO_KERNEL_TABLES %rax, lost
HOOK IN_SAVED
STEP "handle"
	mov	%rsp, %rdi
	mov	%rsp, %rbp
STEP "PTI: off the entry stack", SWITCH_PTI, IS(PTI_ON)
	testb	$3, FRAME_CS(%rsp)
	jz	1f
	mov	$kernel_stack_top, %rsp
1:
STEP "handle"
	CALL_C	exception
	mov	%rbp, %rsp
HOOK OUT_SAVED
STEP "PTI: were they the program's", SWITCH_PTI, IS(PTI_ON)
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
END_PATH

	.section .note.GNU-stack, "", @progbits

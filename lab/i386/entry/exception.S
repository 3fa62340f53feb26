/*
 * All exceptions and interrupts that are not system calls: page faults, the tick, faults of programs and of the kernel,
 * interrupts that nobody asked for.
 *
 * The hardware has: switched to the entry stack, when it came from a program, and pushed ss and esp; pushed eflags, cs, eip and for
 * some vectors an error code; cleared IF, TF, NT, RF, VM. AC and DF are unchanged, and so are DS, ES, FS and GS. It may have come at
 * any instruction, even in a path: the page tables may be the kernel's or the program's, and are restored at the end; DS and ES may
 * be the program's. From virtual-8086 mode, it has first pushed gs, fs, ds and es, and made them null; iret pops them again, because VM is set
 * in the flags that it pops.
 */
#include "entry/espfix.inc"
#include "entry/speculation.inc"
#include "entry/steps.inc"

/* Vectors with an error code: #DF, #TS, #NP, #SS, #GP, #PF, #AC, #CP (SDM vol. 3, 6.13). #DF goes to a task of its own (cpu/tables.c). */
#define WITH_ERROR_CODE 0x60227d00
/* NMI and #MC come whenever they like. */
#define AT_ANY_TIME 0x00040004

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
	jmp	*%cs:path_exception
	.endif
	.set	vector, vector + 1
	.endr
	.rept	224			# interrupts
	.balign	\bytes
	\landing
	push	$0
	push	$vector
	jmp	*%cs:path_exception
	.set	vector, vector + 1
	.endr
.endm

	.balign 16384
	.globl	exception_stubs, landing_stubs
exception_stubs:
	STUBS	EXCEPTION_STUB_SIZE
	.balign	LANDING_STUB_SIZE
landing_stubs:				# the same, for ibt=on
	STUBS	LANDING_STUB_SIZE, endbr32

/*
 * NMI and #MC, and every exception before there are paths. It is no path, because these may come while the paths are being rebuilt,
 * and is the same in every configuration. What it must not rely on, and what any_time_steps tells, is said in the kernel for long mode
 * (lab/entry/exception.S). What is different:
 *
 * - The stack is the one in use, for there is no IST: from a program the entry stack, else the kernel's, which therefore every path has
 *   from its first instruction on (sysenter's is that of IA32_SYSENTER_ESP), and at every instruction; below esp there is always room.
 * - DS and ES may be the program's, or null. They come back as they were: no descriptor changes while a program has it loaded.
 *
 * Where they find the stack by its other name (steps/espfix.S), they go to its own, and back: a return to ring 0 pops no ss.
 * A task with a TSS of 16 bits has another stack segment, too (task-16.S), where C code could not run: from there to the same place by the flat
 * segment, and back.
 */
	.balign	16
	.globl	exception_at_any_time, exception_iret
exception_at_any_time:
	push	%ds
	push	%es
	SAVE_ALL
	mov	%ss, %esi
	cmp	$SELECTOR_TASK_STACK, %si
	je	7f
	ESPFIX_BASE
	cmp	$SELECTOR_ESPFIX, %si
	jne	6f
	add	%esp, %eax
	push	$SELECTOR_KERNEL_DATA
	push	%eax
	lss	(%esp), %esp
6:	LOAD_SEGMENTS
	cld
	mov	%cr3, %ebx
	test	$PROGRAM_TOP_BIT, %ebx
	jz	1f
	mov	kernel_cr3, %eax
	mov	%eax, %cr3
1:	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_ENTER %KEPT
1:	testb	$ANY_TIME_IBPB, any_time_steps
	jz	1f
	IBPB
1:	testb	$ANY_TIME_UNTRAIN, any_time_steps
	jz	1f
	call	untrain_returns
1:	push	%esp
	call	exception
	add	$4, %esp
	testb	$ANY_TIME_IBRS, any_time_steps
	jz	1f
	IBRS_EXIT %KEPT
1:	test	$PROGRAM_TOP_BIT, %ebx
	jz	1f
	mov	user_cr3, %eax
	mov	%eax, %cr3
1:	cmp	$SELECTOR_TASK_STACK, %si
	je	8f
	cmp	$SELECTOR_ESPFIX, %si
	jne	9f
	ESPFIX_BASE
	neg	%eax
	add	%esp, %eax
	push	$SELECTOR_ESPFIX
	push	%eax
	lss	(%esp), %esp
9:	RESTORE_ALL
	pop	%es
	pop	%ds
	add	$8, %esp
	TEST_RING	GATE_CS
	jz	exception_iret
	testb	$ANY_TIME_ESPFIX, %ss:any_time_steps
	jz	1f
	cmpw	$SELECTOR_DATA_16, GATE_SS(%esp)
	jne	1f
	TO_OTHER_NAME
1:	testb	$ANY_TIME_VERW, %cs:any_time_steps	# the stack's segment may have another base now
	jz	exception_iret
	verw	%cs:verw_selector
exception_iret:
	iret
7:	movzwl	%sp, %eax
	add	$task_16_stack, %eax
	mov	$SELECTOR_KERNEL_DATA, %ecx
	mov	%ecx, %ss
	mov	%eax, %esp
	jmp	6b
8:	mov	%esp, %eax
	sub	$task_16_stack, %eax
	mov	%esi, %ss
	mov	%eax, %esp
	jmp	9b

PATH exception, BY_EXCEPTION
HOOK IN_EARLY
STEP "save registers"
	push	%ds
	push	%es
	SAVE_ALL
	LOAD_SEGMENTS
STEP "PTI: note the page tables", TABLES
	mov	%cr3, %ebx
STEP "PTI: and those of the TSS", TABLES, EVENTS_BY_TASKS
	mov	tss + TSS_CR3, %esi
TO_KERNEL_TABLES %eax, lost
HOOK IN_KERNEL
HOOK IN_SAVED
STEP "handle"
	mov	%esp, %eax
	mov	%esp, %ebp
STEP "PTI: off the entry stack", TRAMPOLINE, SWITCH_COPY_FRAME, IS(COPY_FRAME_OFF)
	TEST_RING	FRAME_CS
	jz	1f
	mov	kernel_stack, %esp
1:
STEP "copy-frame: to the thread's stack", COPIED
	TEST_RING	FRAME_CS
	jz	1f
	COPY_WHOLE_FRAME %eax
1:
STEP "handle"
	push	%eax
	CALL_C	exception
	mov	%ebp, %esp
HOOK OUT_SAVED
STEP "copy-frame: is it a program's", COPIED
	TEST_RING	FRAME_CS
	BRANCH	JNE, 52f
/* What was interrupted may have written the one and not yet the other (WRITE_CR3 of steps.inc): both come back as they were. */
STEP "PTI: those of the TSS", TABLES, EVENTS_BY_TASKS
	mov	%esi, tss + TSS_CR3
STEP "PTI: were they the program's", TABLES
	test	$PROGRAM_TOP_BIT, %ebx
	BRANCH	JE, 50f
STEP "PTI: switch to the program's page tables", TABLES
	WRITE_CR3 user_cr3, %eax, lost
STEP "restore registers"
50:	RESTORE_ALL
SEGMENTS_OUT
STEP "drop vector and error code"
	add	$8, %esp
HOOK OUT_LATE
STEP "iret"
1:	iret
	FAULT	1b, 0
SEGMENTS_RARE
STEP "restore registers", COPIED
52:	RESTORE_ALL
SEGMENTS_OUT COPIED
STEP "drop vector and error code", COPIED
	add	$8, %esp
COPY_OUT V86_GATE_WORDS
TO_PROGRAM_TABLES %eax, kept, COPIED
HOOK OUT_LATE, COPIED
STEP "iret", COPIED
1:	iret
	FAULT	1b, 0
SEGMENTS_RARE COPIED
END_PATH

	.section .note.GNU-stack, "", @progbits

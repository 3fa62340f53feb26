/*
 * A system call whose path runs off its stack, as a function does that needs more of it than there is; and the task of #DF, which puts that
 * right. An exception within ring 0 changes no stack: #PF cannot push its frame, and neither could a handler of #DF by an interrupt gate.
 * The processor would shut down (SDM vol. 3, 6.15).
 *
 * The hardware has: switched to the entry stack and pushed ss, esp, eflags, cs, eip; cleared IF, TF, NT.
 * In: as int $0x80. Out: eax. Lost: nothing.
 * Back: iret.
 */
#include "entry/steps.inc"

#define PROBE_LENGTH 4 /* of the instruction that faults */
#define PAGE_BYTES   4096

#define TASK_EXECUTES 23 /* all of double_fault_task but what ends the kernel */

	.section .cpu_variables, "aw"
	.balign	4
survives_at:				# where the stack is to be again; 0: a double fault ends the kernel
	.long	0

PATH double_fault, BY_INTERRUPT, I386
GATE_IN
STEP "note where the stack is"
	mov	%esp, survives_at
/* Page by page, as compilers do it for what is larger than a page: no guard page is left out. */
STEP "use more of the stack than there is"
	EXECUTES 4*4+TASK_EXECUTES	# the entry stack, which has four pages, with the access that faults; the kernel's has five
	EXECUTES_MORE 4, SWITCH_PTI, IS(PTI_ON)|IS(PTI_TRAMPOLINE)
1:	sub	$PAGE_BYTES, %esp
	orl	$0, (%esp)		# #PF below the last page, and #DF: behind it with the stack as it was
	cmp	%esp, survives_at
	jne	1b
STEP "it was survived"
	movl	$0, survives_at
STEP "PTI: programs' tables to their TSS", TABLES, EVENTS_BY_GATES
	push	%eax
	mov	user_cr3, %eax
	mov	%eax, tss + TSS_CR3
	pop	%eax
SERVE
GATE_IRET
SERVE_RARE
END_PATH

/*
 * The task of #DF. The hardware has: stored the interrupted task in its TSS, with the eip of the instruction that faulted first; loaded this
 * one, with the kernel's page tables; pushed the error code 0. For all but a path above, the state of what was interrupted is not defined,
 * and the kernel ends. An NMI that comes before the access that faults has no room either: its delivery is a #PF, and that one's a #DF, with the same eip
 * and an address that is as near (SDM vol. 3, 6.15). It is lost, and iret lets the next one come.
 *
 * CR3 of what was interrupted is not stored anywhere: it is the kernel's here, and the switch back loads what the TSS of programs says.
 */
#define PUSHED_BY_FAULT 16 /* eflags, cs, eip, error code: what #PF wanted to push lies so far below esp at most */

	.text
	.globl	double_fault_task
double_fault_task:
BESIDE double_fault, "the task of #DF", 32
	endbr32				# behind a switch of tasks, as everywhere where an entry begins
	mov	survives_at, %eax
	test	%eax, %eax
	jz	1f
	cmpw	$SELECTOR_TSS, double_fault_tss	# the link
	jne	1f
	mov	tss + TSS_IP, %ecx
	xor	path_double_fault, %ecx
	cmp	$PATH_SLOT, %ecx	# another page
	jae	1f
	mov	%cr2, %edx
	mov	tss + TSS_SP, %ecx
	sub	%edx, %ecx
	cmp	$PUSHED_BY_FAULT, %ecx
	ja	1f
	mov	%eax, tss + TSS_SP
	addl	$PROBE_LENGTH, tss + TSS_IP
	mov	kernel_cr3, %eax
	mov	%eax, tss + TSS_CR3
	add	$4, %esp		# the error code
	iret				# with NT: to the TSS that the link names
	endbr32
	jmp	double_fault_task
BESIDE_END
1:	call	double_fault_is_fatal	# _Noreturn void double_fault_is_fatal(void)

	.section .note.GNU-stack, "", @progbits

/*
 * A task gate of DPL 3 in the IDT, to a task with the TSS of the 80286 (SDM vol. 3, 7.6, 21.4).
 *
 * The hardware has: stored the program in its TSS, which has 32 bits, as task.inc says; loaded 16 bits of each register from this one, whose
 * upper halves are not defined, and DS and ES, the kernel's; but neither CR3, FS and GS, nor the upper half of the flags, which it clears. The
 * page tables are the program's, which map this code, the TSS and the stack. IF is 0.
 * In: as int $0x80, in the program's TSS. Out: eax. Lost: nothing.
 * Back: iret, by the link, from where a 16-bit eip is enough: the task is stored with it. The program's TSS has CR3.
 *
 * The upper half of esp is not defined, so that the stack is one of 16 bits, whose segment has a base. An NMI or #MC that comes before the path
 * has changed to a flat one finds that (exception.S). Both are on it as they are on every stack of the kernel.
 */
#include "entry/task.inc"

	.section .trampoline, "ax"
	.balign	16
	.globl	task_16_code
	.code16
task_16_code:				# offset 0 of its segment
BESIDE task_16, "the task's code of 16 bits", 16
	endbr32
	ljmpl	$SELECTOR_KERNEL_CODE, $1f
task_16_leaves:
	iret
	endbr32
	jmp	task_16_code
BESIDE_END
	.code32
BESIDE task_16, "its jump to the path", 32
1:	jmp	*path_task_16
BESIDE_END

	.section .cpu_variables, "aw"
	.balign	4
task_16_stack_pointer:			# for lss
	.long	TASK_16_STACK_BYTES
	.word	SELECTOR_TASK_STACK

PATH task_16, BY_TASK, I386
STEP "PTI: switch to the kernel's page tables", TABLES
	mov	kernel_cr3, %eax	# DS is the kernel's here, and SS is not
	mov	%eax, %cr3
STEP "to the kernel's stack"
	lss	kernel_stack, %esp	# by one instruction: a load of ss alone holds off an NMI on some processors only
TASK_SERVES
STEP "to the stack and the code of 16 bits"
	EXECUTES 2+6			# and of the code that is in no path
	lss	task_16_stack_pointer, %esp
	ljmp	$SELECTOR_TASK_CODE, $(task_16_leaves - task_16_code)
TASK_RARE
END_PATH

	.section .note.GNU-stack, "", @progbits

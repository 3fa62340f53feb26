/*
 * Rings 1 and 2 on the way to the kernel and back: 3, 1, 0, 1, 3; and 3, 2, 1, 0, 1, 2, 3. Inwards by a call gate at each boundary, outwards by a far
 * return (SDM vol. 3, 5.8.3, 5.8.6). From ring 1 the call goes on through a gate of DPL 1 to the path call_gate_i386, from ring 2
 * through the gate to ring 1.
 *
 * The hardware has: switched to the stack in TSS.SS1:ESP1 or SS2:ESP2, which is the current thread's, and pushed ss, esp, cs, eip. It has
 * not changed eflags. Page tables, DS, ES, FS, GS and all registers are the program's: whatever interrupts this comes from a program
 * (TEST_RING).
 * In: as the entry behind the next gate. Out: eax. Lost: nothing.
 * Back: lret, which takes eip, cs, esp, ss. Where a program has made unusable what it loads, the fault ends the program. A program that
 * steps (TF) is ended here, as it is in ring 3.
 *
 * For paging, rings 1 and 2 are the supervisor, as ring 0 is. So this code is the kernel's own, on pages that SMEP lets it execute, and it
 * touches no page of the program, which SMAP refuses to it. Segments with limits would keep these rings from the kernel's data: here all
 * are flat. What these rings may not do is to execute privileged instructions or use ports (IOPL is 0).
 */
#include "entry/steps.inc"

/* A program's code, which asks ring 1 by its gate; the answer is in eax behind it (lab/entry/rings.c). */
	.section .rodata
	.globl	rings_ask, rings_ask_end
rings_ask:
	lcall	$SELECTOR_GATE_RING1, $0
	ud2
rings_ask_end:

/* And what answers in ring 1: whether it may read the kernel's data segment, as ring 0 alone may (SDM vol. 2, VERR). */
	.text
	.globl	rings_answer
rings_answer:
	mov	$SELECTOR_KERNEL_DATA, %ecx
	xor	%eax, %eax
	verr	%cx
	setz	%al
	lret

.macro RING_STUB name, gate
PATH \name, BY_KERNEL
STEP "\name: to the next ring"
	lcall	$\gate, $0
STEP "\name: is the program's stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, CALL_SS(%esp)
	jne	1f
	hlt				# #GP here, and the end of the program: lret would leave a part of this stack's address there
1:
STEP "\name: back"
	lret
END_PATH
.endm

RING_STUB ring1, SELECTOR_GATE_RING0
RING_STUB ring2, SELECTOR_GATE_RING1

	.section .note.GNU-stack, "", @progbits

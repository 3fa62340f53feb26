/*
 * Rings 1 and 2 on the way to the kernel and back: 3, 1, 0, 1, 3; and 3, 2, 1, 0, 1, 2, 3. Inwards by a call gate at each boundary, outwards by a far
 * return (SDM vol. 3, 5.8.3.1, 5.8.5.1). From ring 1 the call goes on through a gate of DPL 1 to the path call_gate_x86_64, from ring 2
 * through the gate to ring 1.
 *
 * The hardware has: switched to the stack in TSS.RSP1 or RSP2, which is the current thread's, and pushed ss, rsp, cs, rip; loaded a null
 * ss, whose RPL is the new ring. It has not changed rflags. Page tables, the base of GS and all registers are the program's: whatever
 * interrupts this comes from a program (TEST_RING).
 * In: as the entry behind the next gate. Out: rax. Lost: nothing.
 * Back: lretq, which takes rip, cs, rsp, ss. Where a program has made unusable what it loads, the fault ends the program. A program that
 * steps (TF) is ended here, as it is in ring 3.
 *
 * For paging, rings 1 and 2 are the supervisor, as ring 0 is: nothing of the kernel that is mapped is kept from code that runs here, and
 * 64-bit mode looks at no limit of a segment. So this code is the kernel's own, on pages that SMEP lets it execute, and it touches no page
 * of the program, which SMAP refuses to it. What these rings may not do is to execute privileged instructions or use ports (IOPL is 0).
 */
#include "entry/steps.inc"

	.section .trampoline, "ax"	# which programs' page tables map, and nobody writes
	.balign	16
	/* 64-bit code has the far call only through memory: offset, which a gate ignores, and selector. */
ring0_gate:
	.long	0
	.word	SELECTOR_GATE_RING0
	.balign	16
ring1_gate:
	.long	0
	.word	SELECTOR_GATE_RING1

/* A program's code, which asks ring 1 by its gate; the answer is in rax behind it (rings.c). */
	.section .rodata
	.balign	8
	.globl	rings_ask, rings_ask_end
rings_ask:
	lcall	*1f(%rip)
	ud2
	.balign	8
1:	.long	0
	.word	SELECTOR_GATE_RING1
rings_ask_end:

/* And what answers in ring 1: whether it may read the kernel's data segment, as ring 0 alone may (SDM vol. 2, VERR). */
	.text
	.globl	rings_answer
rings_answer:
	mov	$SELECTOR_KERNEL_DATA, %ecx
	xor	%eax, %eax
	verr	%cx
	setz	%al
	lretq

.macro RING_STUB name, gate
PATH \name, BY_KERNEL
STEP "\name: to the next ring"
	lcall	*\gate
STEP "\name: is the program's stack of 16 bits", SWITCH_ESPFIX, IS(ESPFIX_ON)
	EXECUTES 2
	cmpw	$SELECTOR_DATA_16, CALL_SS(%rsp)
	jne	1f
	hlt				# #GP here, and the end of the program: lretq would leave a part of this stack's address there
1:
STEP "\name: back"
	lretq
END_PATH
.endm

RING_STUB ring1, ring0_gate
RING_STUB ring2, ring1_gate

	.section .note.GNU-stack, "", @progbits

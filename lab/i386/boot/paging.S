/*
 * Where CR0.PG changes: to page tables of another form, and for a program without any (cpu/unpaged.c). Code must be at its physical address then,
 * and so must be what an NMI needs, for that may come at any instruction: a table of gates, one of descriptors, a stack. They are here, in pages
 * that the kernel's page tables map to themselves, too. C code has loaded both tables (cpu/passage.h); an NMI is dropped until the kernel's own are
 * loaded again. Interrupts are off. A machine check stops the machine.
 */
#include "cpu/registers.h"
#include "cpu/passage.h"
#include "lab.h"

#define KERNEL_BASE 0xc0000000
#define STACK_BYTES 256

	.section .boot, "ax"

/* To flat code at its physical address, the stack there, and flat data. Processors track a far jump as an indirect one (ibt=on). */
.macro FROM_KERNEL
	ljmp	$SELECTOR_BOOT_CODE, $1f
1:	endbr32
	mov	$PASSAGE_DATA, %eax
	mov	%eax, %ds
	mov	%esp, kernel_stack_pointer
	lss	own_stack_pointer, %esp
.endm

.macro CLEAR_PG
	mov	%cr0, %eax
	and	$~CR0_PG, %eax
	mov	%eax, %cr0
	jmp	1f			# SDM vol. 3, 10.9.2
1:
.endm

.macro SET_PG
	mov	%cr0, %eax
	or	$CR0_PG, %eax
	mov	%eax, %cr0
	jmp	1f
1:
.endm

/*
 * With the kernel's descriptors: its stack, its segments, LDT and TSS, whose bases the processor has kept; last of all its gates, one of which may
 * lead an NMI to a task. And back to C. ecx: struct table_pointers.
 */
.macro TO_KERNEL
	lss	kernel_stack_pointer, %esp
	mov	$SELECTOR_KERNEL_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	$SELECTOR_LDT, %eax
	lldt	%ax
	str	%eax
	ltr	%ax			# passage_begin has made it available
	lidt	PASSAGE_IDT(%ecx)
	pop	%eax
	push	$SELECTOR_KERNEL_CODE
	push	%eax
	lret
.endm

/*
 * void paging_change(const struct table_pointers *tables, word cr3, word cr4), paging_clear(tables), paging_set(tables): `tables` are those to load
 * afterwards, whose descriptors have the bases that are right then. CR4.PAE changes with paging off (SDM vol. 3, 4.1.2). Code goes on by a
 * segment that is flat in each table. Where there is no paging, they are called at their addresses in the kernel.
 */
	.globl	paging_change, paging_clear, paging_set
paging_change:
	endbr32
	mov	4(%esp), %ecx
	mov	8(%esp), %edx
	mov	12(%esp), %eax
	mov	%eax, cr4_afterwards
	FROM_KERNEL
	CLEAR_PG
	mov	cr4_afterwards, %eax
	mov	%eax, %cr4
	mov	%edx, %cr3
	SET_PG
	lgdt	(%ecx)
	TO_KERNEL

paging_clear:
	endbr32
	mov	4(%esp), %ecx
	FROM_KERNEL
	CLEAR_PG
	lgdt	-KERNEL_BASE(%ecx)	# at its physical address
	TO_KERNEL

paging_set:
	endbr32
	mov	4(%esp), %ecx
	FROM_KERNEL
	SET_PG
	lgdt	(%ecx)
	TO_KERNEL

	.globl	passage_nmi
passage_nmi:
	endbr32
	iret

/* What is written here: kernel.lds gives it pages of its own. */
	.section .boot_data, "aw"
	.globl	passage_gdt, passage_idt
	.balign	16
passage_idt:
	.fill	PASSAGE_VECTORS, 8, 0
passage_gdt:
	.fill	PASSAGE_DESCRIPTORS, 8, 0
own_stack_pointer:
	.long	own_stack_top
	.word	PASSAGE_DATA
	.balign	4
kernel_stack_pointer:
	.long	0
	.word	SELECTOR_KERNEL_DATA
	.balign	4
cr4_afterwards:
	.long	0
	.skip	STACK_BYTES
own_stack_top:

	.section .note.GNU-stack, "", @progbits

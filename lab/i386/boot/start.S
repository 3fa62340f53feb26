/*
 * Where a boot loader enters: PVH (the Xen note; QEMU's -kernel) or multiboot2 (GRUB). Both leave 32-bit protected
 * mode, paging off, interrupts off, flat segments, the address of their information in ebx.
 * Specifications: Xen's docs/misc/pvh.pandoc; Multiboot2 Specification 2.0, 3.3.
 *
 * An exception is reported on the serial port, by early.S; the kernel's own table of gates follows in cpu/tables.c.
 */
#include "boot/early.inc"
#include "cpu/registers.h"
#include "entry/layout.h"
#include "lab.h"

#define KERNEL_BASE 0xc0000000
#define TABLE	    3 /* a page-table entry: present, writable */
#define PAGE	    4096

/* Of CPUID's leaf 1, edx: what the message below says. Of SSE2, kernel and probes execute lfence. */
#define NEEDED (1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 15 | 1 << 24 | 1 << 26)

#define IMAGE	      0x100000 /* kernel.lds: where it is loaded */
#define IMAGE_TABLES  4	       /* kernel.lds: it ends below 16 MiB */
#define SCREEN_TABLES 4	       /* window.h: 16 MiB */

	.section .multiboot2, "a"
	.balign 8
multiboot2:
	.long	0xe85250d6, 0, multiboot2_end - multiboot2
	.long	-(0xe85250d6 + (multiboot2_end - multiboot2))
	.balign 8
	.word	6, 0			# tag: modules on page boundaries
	.long	8
	.balign 8
	.word	5, 1			# tag: a framebuffer, if there is one; any size, 32 bits a pixel
	.long	20, 0, 0, 32
	.balign 8
	.word	0, 0			# last tag
	.long	8
multiboot2_end:

	.section .note.Xen, "a", @note
	.balign 4
	.long	4, 4, 18		# XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.long	start_pvh

	.section .boot, "ax"
	.globl start_multiboot2
start_pvh:
	mov	$LOADER_PVH, %edi
	jmp	1f
start_multiboot2:
	mov	$LOADER_MULTIBOOT2, %edi
1:	cli
	cld
	mov	%ebx, %esi
	mov	%edi, early_loader
	lgdt	boot_gdt_pointer
	ljmp	$SELECTOR_BOOT_CODE, $2f
2:	mov	$SELECTOR_KERNEL_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	$main_stack_top - KERNEL_BASE, %esp
	lidt	early_idt_pointer
	.globl	start_32_gates
start_32_gates:
/* CPUID is there if its bit in eflags can change (SDM vol. 1, 20.1.2). */
	pushf
	pop	%eax
	mov	%eax, %ecx
	xor	$RFLAGS_ID, %eax
	push	%eax
	popf
	pushf
	pop	%eax
	cmp	%ecx, %eax
	je	too_old
	mov	$1, %eax
	cpuid
	and	$NEEDED, %edx
	cmp	$NEEDED, %edx
	jne	too_old
	/* The upper part of the tables is 0, as all of .bss. */
	mov	$(boot_tables - KERNEL_BASE + IMAGE / PAGE * 4), %edx
	mov	$(IMAGE + TABLE), %eax
1:	mov	%eax, (%edx)
	add	$4, %edx
	add	$PAGE, %eax
	cmp	$(kernel_end - KERNEL_BASE), %eax
	jb	1b
	mov	$DR7_RESET, %eax
	mov	%eax, %dr7
	xor	%eax, %eax		# no PAE, no large pages, whatever was there before
	mov	%eax, %cr4
	mov	$boot_directory, %eax
	mov	%eax, %cr3
	mov	%cr0, %eax
	and	$~(CR0_EM | CR0_TS | CR0_CD | CR0_NW), %eax
	or	$(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_AM), %eax
	mov	%eax, %cr0
	mov	$2f, %eax
	jmp	*%eax
2:	mov	$main_stack_top, %esp
	movl	$exception_at_any_time, path_exception	# until there are paths
	mov	%edi, console_loader
	push	%esi
	push	%edi
	mov	$kernel_main, %eax
	call	*%eax			# kernel_main(loader, information); it does not return

too_old:
	mov	$too_old_record, %ebx
	jmp	early_say

	.balign 8
too_old_record:
	LOG_RECORD too_old_end-too_old_text
too_old_text:
	.ascii	"panic: this processor is too old, or its firmware hides a feature: the kernel for protected mode needs PSE, TSC, MSRs, PAE, CMOV, FXSAVE and SSE2"
too_old_end:

	.balign	8
boot_gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	# code, at SELECTOR_BOOT_CODE
	.quad	0x00cf9b000000ffff	# the same, at SELECTOR_KERNEL_CODE
	.quad	0x00cf93000000ffff	# data, at SELECTOR_KERNEL_DATA
boot_gdt_pointer:
	.word	. - boot_gdt - 1
	.long	boot_gdt

/* The kernel and nothing else: at its physical addresses, and at KERNEL_BASE. */
	.balign 4096
	.globl	boot_directory
boot_directory:
.macro IMAGE_AGAIN
	.set	table, 0
	.rept	IMAGE_TABLES
	.long	boot_tables - KERNEL_BASE + table + TABLE
	.set	table, table + PAGE
	.endr
.endm
	IMAGE_AGAIN
	.fill	768 - IMAGE_TABLES, 4, 0
	IMAGE_AGAIN			# 0xc0000000
	.fill	1024 - 768 - IMAGE_TABLES - SCREEN_TABLES - 1, 4, 0
	.long	window_table - KERNEL_BASE + TABLE	# window.c: 0xfec00000
	.set	table, 0
	.rept	SCREEN_TABLES
	.long	window_screen_tables - KERNEL_BASE + table + TABLE
	.set	table, table + PAGE
	.endr

	.bss
	.balign	PAGE
boot_tables:
	.skip	IMAGE_TABLES * PAGE

	.section .note.GNU-stack, "", @progbits

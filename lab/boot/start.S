/*
 * Where a boot loader enters: PVH (the Xen note; QEMU's -kernel) or multiboot2 (GRUB). Both leave 32-bit protected
 * mode, paging off, interrupts off, flat segments, the address of their information in ebx.
 * Specifications: Xen's docs/misc/pvh.pandoc; Multiboot2 Specification 2.0, 3.3.
 */
#include "cpu/registers.h"
#include "lab.h"

#define KERNEL_BASE 0xffffffff80000000

/* A page-table entry: present, writable. */
#define TABLE 3
#define PAGE  4096

#define IMAGE	     0x100000 /* kernel.lds: where it is loaded */
#define IMAGE_TABLES 8	      /* kernel.lds: it ends below 16 MiB */

	.section .multiboot2, "a"
	.balign 8
multiboot2:
	.long	0xe85250d6, 0, multiboot2_end - multiboot2
	.long	-(0xe85250d6 + (multiboot2_end - multiboot2))
	.balign 8
	.word	6, 0			# tag: modules on page boundaries
	.long	8
	.word	0, 0			# last tag
	.long	8
multiboot2_end:

	.section .note.Xen, "a", @note
	.balign 4
	.long	4, 4, 18		# XEN_ELFNOTE_PHYS32_ENTRY
	.asciz	"Xen"
	.long	start_pvh

	.section .boot, "ax"
	.code32
	.globl start_multiboot2
start_pvh:
	mov	$LOADER_PVH, %edi
	jmp	1f
start_multiboot2:
	mov	$LOADER_MULTIBOOT2, %edi
1:	cld
	mov	%ebx, %esi
	mov	$(boot_tables - KERNEL_BASE + IMAGE / PAGE * 8), %edx
	mov	$(IMAGE + TABLE), %eax
3:	mov	%eax, (%edx)		# the upper half is 0, as all of .bss
	add	$8, %edx
	add	$PAGE, %eax
	cmp	$(kernel_end - KERNEL_BASE), %eax
	jb	3b
	mov	%cr4, %eax
	or	$(CR4_PAE), %eax
	mov	%eax, %cr4
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$(EFER_LME | EFER_NXE | EFER_SCE), %eax
	wrmsr
	mov	%cr0, %eax
	and	$~(CR0_EM | CR0_TS | CR0_CD | CR0_NW), %eax
	or	$(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_AM), %eax
	mov	%eax, %cr0
	lgdt	boot_gdt_pointer
	ljmp	$SELECTOR_KERNEL_CODE, $2f
	.code64
2:	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %fs
	mov	%eax, %gs
	mov	%eax, %ss
	mov	$main_stack_top, %rsp
	mov	$kernel_main, %rax
	jmp	*%rax			# kernel_main(loader, information); it does not return

	.balign 8
boot_gdt:
	.quad	0, 0
	.quad	0x00209a0000000000	# kernel code, 64 bit, at SELECTOR_KERNEL_CODE
boot_gdt_pointer:
	.word	. - boot_gdt - 1
	.long	boot_gdt

/*
 * The kernel and nothing else: at its physical addresses, at DIRECT_MAP, at KERNEL_BASE. What the boot loader passes on is
 * seen through a window (window.c), because the processor may read ahead from what is mapped, and a device must not be.
 */
	.balign PAGE
boot_pml4:
	.quad	boot_pdpt + TABLE
	.fill	272, 8, 0
	.quad	boot_pdpt + TABLE	# slot 273: 0xffff888000000000
	.fill	237, 8, 0
	.quad	boot_pdpt_high + TABLE
boot_pdpt:
	.quad	boot_pd + TABLE
	.fill	511, 8, 0
boot_pdpt_high:
	.fill	510, 8, 0
	.quad	boot_pd + TABLE, boot_window + TABLE
boot_pd:
	.set	table, 0
	.rept	IMAGE_TABLES
	.quad	boot_tables - KERNEL_BASE + table + TABLE
	.set	table, table + PAGE
	.endr
	.fill	512 - IMAGE_TABLES, 8, 0
boot_window:
	.quad	window_table - KERNEL_BASE + TABLE
	.fill	511, 8, 0

	.bss
	.balign PAGE
boot_tables:
	.skip	IMAGE_TABLES * PAGE
	.skip	16384
main_stack_top:

	.section .note.GNU-stack, "", @progbits

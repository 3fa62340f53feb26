/*
 * Where a boot loader enters: PVH (the Xen note; QEMU's -kernel) or multiboot2 (GRUB). Both leave 32-bit protected
 * mode, paging off, interrupts off, flat segments, the address of their information in ebx.
 * Specifications: Xen's docs/misc/pvh.pandoc; Multiboot2 Specification 2.0, 3.3.
 */
#include "cpu/registers.h"
#include "lab.h"

#define KERNEL_BASE 0xffffffff80000000

/* A page-table entry: present, writable; and one of 2 MiB. */
#define TABLE 3
#define LARGE 0x83

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

/* The first 4 GiB: at 0, at DIRECT_MAP; of these the first at KERNEL_BASE. */
	.balign 4096
boot_pml4:
	.quad	boot_pdpt + TABLE
	.fill	272, 8, 0
	.quad	boot_pdpt + TABLE	# slot 273: 0xffff888000000000
	.fill	237, 8, 0
	.quad	boot_pdpt_high + TABLE
boot_pdpt:
	.quad	boot_pd + TABLE, boot_pd + 0x1000 + TABLE, boot_pd + 0x2000 + TABLE, boot_pd + 0x3000 + TABLE
	.fill	508, 8, 0
boot_pdpt_high:
	.fill	510, 8, 0
	.quad	boot_pd + TABLE, 0
boot_pd:
	.set	page, 0
	.rept	2048
	.quad	page + LARGE
	.set	page, page + 0x200000
	.endr

	.section .note.GNU-stack, "", @progbits

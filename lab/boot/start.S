/*
 * Where a boot loader enters: PVH (the Xen note; QEMU's -kernel) or multiboot2 (GRUB). Both leave 32-bit protected
 * mode, paging off, interrupts off, flat segments, the address of their information in ebx.
 * Specifications: Xen's docs/misc/pvh.pandoc; Multiboot2 Specification 2.0, 3.3.
 *
 * An exception is reported on the serial port: in 32-bit code by early.S, from the first 64-bit instructions on by
 * entry/exception.c; the kernel's own table of gates follows in cpu/tables.c.
 */
#include "boot/tables.inc"
#include "cpu/registers.h"
#include "entry/layout.h"
#include "lab.h"

#define CPUID_EXTENDED_1 0x80000001
#define CPUID_EDX_LM	 29 /* number of the bit */

#define SCREEN_TABLES  8      /* window.h: 16 MiB */
#define GATE_INTERRUPT 0x8e00 /* present, DPL 0, no IST */

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
	.word	7, 1			# tag: UEFI's boot services remain
	.long	8
	.balign 8
	.word	9, 1			# tag: where to enter then, in 64-bit mode
	.long	12, start_efi
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
	.code32
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
	mov	$CPUID_EXTENDED_1, %eax
	cpuid
	bt	$CPUID_EDX_LM, %edx
	jnc	early_no_64_bit_mode
	FILL_BOOT_TABLES
	mov	$DR7_RESET, %eax
	mov	%eax, %dr7
	mov	$CR4_PAE, %eax		# and nothing else: no fifth level, whatever was there before
	mov	%eax, %cr4
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	mov	$(EFER_LME | EFER_SCE), %eax
	xor	%edx, %edx
	wrmsr
	mov	%cr0, %eax
	and	$~(CR0_EM | CR0_TS | CR0_CD | CR0_NW), %eax
	or	$(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_AM), %eax
	mov	%eax, %cr0
	ljmp	$SELECTOR_KERNEL_CODE, $2f
	.code64
	.globl	start_64, start_64_gates, boot_idt_pointer
start_64:				# efi.S, too: edi loader, esi information
2:	mov	$main_stack_top, %rsp
	movq	$exception_at_any_time, path_exception	# until there are paths
	mov	%edi, console_loader
	lidt	boot_idt_pointer
start_64_gates:			# from here on an exception is reported
	xor	%eax, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %fs
	mov	%eax, %gs
	mov	%eax, %ss
	mov	$kernel_main, %rax
	jmp	*%rax			# kernel_main(loader, information); it does not return

	.balign 8
boot_gdt:
	.quad	0
	.quad	0x00cf9b000000ffff	# code, 32 bit, at SELECTOR_BOOT_CODE
	.quad	0x00209b0000000000	# kernel code, 64 bit, at SELECTOR_KERNEL_CODE
	.quad	0x00cf93000000ffff	# data, at SELECTOR_KERNEL_DATA
boot_gdt_pointer:
	.word	. - boot_gdt - 1
	.long	boot_gdt

/* Gates to the stubs of all exceptions, on the stack that is in use. kernel.lds tells the parts of their address. */
	.balign 8
boot_idt:
	.set	vector, 0
	.rept	32
	.word	exception_stubs_0 + vector * EXCEPTION_STUB_SIZE, SELECTOR_KERNEL_CODE
	.word	GATE_INTERRUPT, exception_stubs_16
	.long	exception_stubs_32, 0
	.set	vector, vector + 1
	.endr
boot_idt_pointer:
	.word	. - boot_idt - 1
	.quad	boot_idt

/*
 * The kernel and nothing else: at its physical addresses, at DIRECT_MAP, at KERNEL_BASE. What the boot loader passes on is
 * seen through a window (window.c), because the processor may read ahead from what is mapped, and a device must not be.
 */
	.balign 8192			# PROGRAM_TOP_BIT is 0
	.globl	boot_pml4
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
	.set	table, 0
	.rept	SCREEN_TABLES
	.quad	window_screen_tables - KERNEL_BASE + table + TABLE
	.set	table, table + PAGE
	.endr
	.fill	511 - SCREEN_TABLES, 8, 0

	.bss
	.balign	PAGE
	.globl	boot_tables
boot_tables:
	.skip	IMAGE_TABLES * PAGE

	.section .note.GNU-stack, "", @progbits

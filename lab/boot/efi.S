/*
 * Where GRUB enters on a machine with UEFI (Multiboot2 Specification 2.0, 3.5): 64-bit mode, the firmware's page tables, GDT,
 * IDT and stack, rbx the address of the information. The firmware's boot services remain, so that what was measured can
 * become a file (efi.c): what the kernel changes of the processor is put back for them, but for TSC_AUX, AMD's DE_CFG and NX,
 * which firmware does not look at.
 */
#include "boot/efi.h"
#include "boot/tables.inc"
#include "cpu/registers.h"
#include "lab.h"

#define ENTRIES	     512
#define SLOT_KERNEL  511 /* of the top table; and 510 of the table below */

/* A page-table entry of 2 MiB: present, writable; the kernel takes fewer than so many. */
#define LARGE	     0x83
#define LARGE_PAGES  8

	.section .boot, "ax"
	.code64
	.globl	start_efi, efi_levels, efi_gates
start_efi:
	cld
	/* The firmware's half of the addresses and the kernel's, in one table: functions of either can call the other's. */
	mov	$(efi_upper + TABLE), %edx
	mov	%cr4, %rax
	test	$CR4_LA57, %eax
	jz	1f
	mov	$(efi_fifth + TABLE), %edx	# so that efi_prepare can say that five levels are one too many
1:	mov	%cr3, %rsi
	and	$~0xfff, %rsi
	mov	$(efi_top - KERNEL_BASE), %edi
	mov	$ENTRIES, %ecx
	rep movsq
	mov	%rdx, efi_top - KERNEL_BASE + 8 * SLOT_KERNEL
	mov	$(efi_top - KERNEL_BASE), %eax
	mov	%rax, %cr3

	and	$-16, %rsp
	mov	%ebx, %edi
efi_levels:
	mov	%cr4, %rsi
	mov	$efi_prepare, %rax
	call	*%rax			# uint32_t efi_prepare(uint32_t information, uint64_t cr4)
	mov	%eax, %esi
	mov	%rsp, efi_cpu + EFI_RSP

	/*
	 * From here on an exception is reported: its gates, the stubs and the stack are mapped by this table and by the next. The
	 * iretq behind an NMI loads CS and SS again, so both become such as this GDT has, or none (SS, in 64-bit mode). An NMI
	 * between lgdt and lretq would still fail.
	 */
	cli
	FILL_BOOT_TABLES
	movq	$exception_at_any_time, path_exception
	mov	$main_stack_top, %rsp
	xor	%eax, %eax
	mov	%eax, %ss
	lgdt	efi_gdt_pointer
	lidt	boot_idt_pointer
	push	$SELECTOR_KERNEL_CODE
	push	$1f
	lretq
1:	mov	$boot_pml4, %eax
	mov	%rax, %cr3
efi_gates:
	/* As start.S does: what the firmware uses of CR4 ends here. */
	mov	$CR4_PAE, %eax
	mov	%rax, %cr4
	mov	%cr0, %rax
	and	$~(CR0_EM | CR0_TS | CR0_CD | CR0_NW), %eax
	or	$(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_AM), %eax
	mov	%rax, %cr0
	mov	$MSR_EFER, %ecx
	mov	$(EFER_SCE | EFER_LME | EFER_LMA), %eax
	xor	%edx, %edx
	wrmsr
	mov	$LOADER_MULTIBOOT2, %edi
	jmp	start_64		# start.S: edi loader, esi information

	.balign 8
efi_gdt:
	.quad	0, 0
	.quad	0x00209b0000000000	# kernel code, 64 bit, at SELECTOR_KERNEL_CODE
efi_gdt_pointer:
	.word	. - efi_gdt - 1
	.quad	efi_gdt

	.balign 4096
efi_fifth:
	.fill	SLOT_KERNEL, 8, 0
	.quad	efi_upper + TABLE
efi_upper:
	.fill	510, 8, 0
	.quad	efi_kernel + TABLE, 0
efi_kernel:
	.set	page, 0
	.rept	LARGE_PAGES
	.quad	page + LARGE
	.set	page, page + 0x200000
	.endr
	.fill	ENTRIES - LARGE_PAGES, 8, 0

	.text
/*
 * _Noreturn void efi_resume(void (*then)(void), uint64_t top): loads the firmware's state and calls `then` on the firmware's
 * stack, with interrupts as they were. `top`: physical, of page tables with the firmware's half and the kernel's. SDM vol. 3,
 * 4.10.1: bits 0 to 11 of CR3 are 0 when PCIDE goes.
 */
	.globl	efi_resume
efi_resume:
	cli
	mov	%rsi, %cr3
	mov	efi_cpu + EFI_CR4, %rax
	mov	%rax, %cr4
	mov	efi_cpu + EFI_CR0, %rax
	mov	%rax, %cr0
	mov	efi_cpu + EFI_RSP, %rsp
	lgdt	efi_cpu + EFI_GDT
	lidt	efi_cpu + EFI_IDT
	mov	efi_cpu + EFI_CS, %eax
	push	%rax
	push	$1f
	lretq
1:	mov	efi_cpu + EFI_SS, %eax
	mov	%eax, %ss
	mov	%eax, %ds
	mov	%eax, %es
	xor	%eax, %eax
	lldt	%ax
	pushq	efi_cpu + EFI_RFLAGS
	popf				# the firmware's timer ticks from here on
	call	*%rdi
	ud2

	.bss
	.balign 8192			# PROGRAM_TOP_BIT is 0
	.globl	efi_top
efi_top:
	.skip	4096

	.section .note.GNU-stack, "", @progbits

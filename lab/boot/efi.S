/*
 * Where GRUB enters on a machine with UEFI (Multiboot2 Specification 2.0, 3.5): 64-bit mode, the firmware's page tables, GDT,
 * IDT and stack, rbx the address of the information. The firmware's boot services remain, so that what was measured can
 * become a file (efi.c): what the kernel changes of the processor is put back for them, but for TSC_AUX and AMD's DE_CFG,
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

#define CR4_LA57_BIT 12
#define CPUID_EXTENDED_1 0x80000001
#define CPUID_EDX_NX	 20 /* number of the bit */

#define UART 0x3f8

	.section .boot, "ax"
	.code64
	.globl	start_efi
start_efi:
	cld
	mov	%cr4, %rax
	bt	$CR4_LA57_BIT, %rax
	jc	five_levels
	/* The firmware's half of the addresses and the kernel's, in one table: functions of either can call the other's. */
	mov	%cr3, %rsi
	and	$~0xfff, %rsi
	mov	$(efi_top - KERNEL_BASE), %edi
	mov	$ENTRIES, %ecx
	rep movsq
	mov	$(efi_upper + TABLE), %eax
	mov	%rax, efi_top - KERNEL_BASE + 8 * SLOT_KERNEL
	mov	$(efi_top - KERNEL_BASE), %eax
	mov	%rax, %cr3

	and	$-16, %rsp
	mov	%ebx, %edi
	mov	$efi_prepare, %rax
	call	*%rax			# uint32_t efi_prepare(uint32_t information)
	mov	%eax, %esi
	mov	%rsp, efi_cpu + EFI_RSP

	/* As start.S does: what the firmware uses of CR4, its interrupts among it, ends here. */
	cli
	FILL_BOOT_TABLES
	mov	$boot_pml4, %eax
	mov	%rax, %cr3
	mov	$CR4_PAE, %eax
	mov	%rax, %cr4
	mov	%cr0, %rax
	and	$~(CR0_EM | CR0_TS | CR0_CD | CR0_NW), %eax
	or	$(CR0_PG | CR0_WP | CR0_NE | CR0_MP | CR0_AM), %eax
	mov	%rax, %cr0
	mov	$CPUID_EXTENDED_1, %eax
	cpuid
	xor	%edi, %edi
	bt	$CPUID_EDX_NX, %edx
	jnc	1f
	mov	$EFER_NXE, %edi
1:	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_SCE, %eax
	or	%edi, %eax
	wrmsr
	lgdt	efi_gdt_pointer
	mov	$efi_stack_end, %rsp
	push	$SELECTOR_KERNEL_CODE
	push	$start_64
	mov	$LOADER_MULTIBOOT2, %edi
	lretq				# start.S: edi loader, esi information

/* The kernel's page tables have four levels. */
five_levels:
	mov	$UART, %edx
	mov	$five_levels_text, %esi
1:	lodsb
	test	%al, %al
	jz	2f
	outb	%al, %dx
	jmp	1b
2:	hlt
	jmp	2b
five_levels_text:
	.asciz	"kentry lab: the firmware uses page tables of five levels; boot by BIOS, or switch them off there\r\n"

	.balign 8
efi_gdt:
	.quad	0, 0
	.quad	0x00209b0000000000	# kernel code, 64 bit, at SELECTOR_KERNEL_CODE
efi_gdt_pointer:
	.word	. - efi_gdt - 1
	.quad	efi_gdt

	.balign 4096
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
 * stack, interrupts off. `top`: physical, of page tables with the firmware's half and the kernel's. SDM vol. 3, 4.10.1: bits
 * 0 to 11 of CR3 are 0 when PCIDE goes.
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
	call	*%rdi
	ud2

	.bss
	.balign 4096
	.globl	efi_top
efi_top:
	.skip	4096
efi_stack:
	.skip	64
efi_stack_end:

	.section .note.GNU-stack, "", @progbits

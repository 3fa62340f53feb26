/*
 * What firmware might leave behind, and worse: this runs before the kernel, in 32-bit protected mode without paging, and goes
 * on at NEXT as if it had not been there: ebx is the boot loader's.
 */
#define APIC	 0xfee00000
#define IO_APIC	 0xfec00000
#define INPUTS	 24
#define MISC_ENABLE 0x1a0
#define CR4_LA57 0x1000
#define TSC_AUX	 0xc0000103
#define PAT	 0x277
#define EFER	 0xc0000080

	.code32
	.globl	_start
_start:	mov	$MISC_ENABLE, %ecx
	rdmsr
	or	$1 << 22, %eax		# CPUID ends with leaf 2
	or	$4, %edx		# bit 34: no NX
	wrmsr
	mov	%cr4, %eax
	or	$CR4_LA57, %eax
	mov	%eax, %cr4
	mov	$BREAKPOINT, %eax
	mov	%eax, %dr0
	mov	$0x402, %eax		# where instruction 0 is executed, in all tasks
	mov	%eax, %dr7
	mov	$TSC_AUX, %ecx
	mov	$0x777, %eax
	xor	%edx, %edx
	wrmsr
	mov	$EFER, %ecx
	rdmsr
	or	$EFER_BITS, %eax
	wrmsr
	mov	$PAT, %ecx
	mov	$PAT_HALF, %eax		# both halves
	mov	%eax, %edx
	wrmsr

	/* The timer interrupts a thousand times a second, through both PICs as a BIOS has them, on vectors of exceptions. */
	.macro	WRITE port, value
	mov	$\value, %al
	out	%al, $\port
	.endm
	WRITE	0x43, 0x34
	WRITE	0x40, 0xa9
	WRITE	0x40, 0x04
	WRITE	0x20, 0x11
	WRITE	0x21, 0x08
	WRITE	0x21, 0x04
	WRITE	0x21, 0x01
	WRITE	0x21, 0x00
	WRITE	0xa0, 0x11
	WRITE	0xa1, 0x70
	WRITE	0xa1, 0x02
	WRITE	0xa1, 0x01
	WRITE	0xa1, 0x00

	/* And through the I/O APIC, whatever its input is there, as vector 0x77. */
	mov	$0x10, %ecx
1:	mov	%ecx, IO_APIC
	movl	$0x77, IO_APIC + 16
	inc	%ecx
	mov	%ecx, IO_APIC
	movl	$0, IO_APIC + 16
	inc	%ecx
	cmp	$0x10 + 2 * INPUTS, %ecx
	jb	1b

	/* The local APIC passes the PICs on, holds off what is below 0xf0, and has an interrupt pending: vector 0x68. */
	movl	$0x1ff, APIC + 0xf0
	movl	$0x700, APIC + 0x350
	movl	$0xf0, APIC + 0x80
	movl	$0, APIC + 0x310
	movl	$0x44068, APIC + 0x300

	mov	$NEXT, %eax
	jmp	*%eax

	.section .note.GNU-stack, "", @progbits

/*
 * In place of stubs that no interrupt comes to: NMIs all the time, and a report of the instructions of paths that they came
 * before. Linked where it runs, which page tables of programs map, too; what it needs of the kernel is defined on the command
 * line.
 */
#ifdef __x86_64__
#include "machine64.inc"
#define IO_APIC		0xffffc000fec00000	/* lab/mm/mm.h */
#else
#include "machine32.inc"
#define IO_APIC		0xf0000000		/* the first device that is mapped (lab/i386/mm/addresses.h) */
#endif
#define TASK_STACK	0x170			/* lab/cpu/registers.h */
#define IO_WINDOW	16
#define DELIVER_NMI	0x400
#define TIMER_RATE	0x34	/* channel 0, both bytes, mode 2 */
#define REPORT_PORT	0xe9	/* Bochs writes its bytes to the standard output */
#define PATHS_BYTES	(PATHS_END - PATHS_START)

	.text
	.globl	_start
/* Where the kernel looks for counters of the processor's: the PC's timer makes NMIs, by way of the I/O APIC. */
_start:	mov	$IO_APIC, %DX
	.irp	input, 0, 2		# the timer's is one of these
	movl	$0x10 + 2 * \input, (%DX)
	movl	$DELIVER_NMI, IO_WINDOW(%DX)
	movl	$0x11 + 2 * \input, (%DX)
	movl	$0, IO_WINDOW(%DX)
	.endr
	mov	$TIMER_RATE, %al
	out	%al, $0x43
	mov	$TIMER_COUNT, %al
	out	%al, $0x40
	xor	%eax, %eax
	out	%al, $0x40
	ret

/* The stub of NMIs leads here. A report is four bytes with the highest bit set: 0xff, and thrice six bits of the distance. */
	.org	NMI_AT
#ifndef __x86_64__
	push	%eax
	mov	%ss, %eax
	cmp	$TASK_STACK, %ax	# of 16 bits: what is on it has no address by esp
	pop	%eax
	je	2f
#endif
	push	%AX
	push	%DX
	/* For a while that differs from NMI to NMI, so that these do not come at the same places in each turn of a program. */
	rdtsc
	and	$0x3f, %eax
1:	dec	%eax
	jns	1b
	mov	2 * BYTES(%SP), %AX
	sub	$PATHS_START, %AX
	cmp	$PATHS_BYTES, %AX
	jae	1f
	mov	%eax, %edx
	mov	$0xff, %al
	out	%al, $REPORT_PORT
	.rept	3
	mov	%edx, %eax
	and	$0x3f, %eax
	or	$0x80, %eax
	out	%al, $REPORT_PORT
	shr	$6, %edx
	.endr
1:	pop	%DX
	pop	%AX
2:	push	$0
	push	$2
	jmp	EXCEPTION_AT_ANY_TIME

	.section .note.GNU-stack, "", @progbits

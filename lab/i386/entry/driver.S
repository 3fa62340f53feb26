/*
 * What a driver in ring 1 tries (driver.c), each in a function that a far call reaches: with the page tables of the program, which map this code
 * under isolation, too, and with SS as the segment of ring 1. Out: eax, 1 when it is done, 2 when it was ignored. Lost: ecx, edx.
 */
#include "cpu/registers.h"
#include "entry/layout.h"
#include "lab.h"

#define NR_GETPPID 64
#define PORT	   0x80 /* of no device: codes of a machine's self-test go there */

/* A program's code. Behind it is what ring 1 reads and executes of it. */
	.section .rodata
	.globl	driver_ask, driver_ask_end
driver_ask:
	mov	$1f - driver_ask, %ebx	# where it is: its stack begins there (program_run_code)
	add	%esp, %ebx
	lcall	$SELECTOR_GATE_RING1, $0
	ud2
1:	ret
driver_ask_end:

	.pushsection .rodata
	.balign	4
	.globl	driver_list
driver_list:
	.popsection

.macro TRY
	.pushsection .rodata
	.long	8f
	.popsection
8:
.endm

.macro DONE
	mov	$1, %eax
	lret
.endm

	.section .trampoline, "ax"
TRY
	DONE
TRY
	cli
	DONE
TRY					# with IOPL below CPL, popf leaves IF as it is
	pushf
	andl	$~RFLAGS_IF, (%esp)
	popf
	pushf
	pop	%ecx
	mov	$2, %eax
	test	$RFLAGS_IF, %ecx
	jnz	1f
	dec	%eax
1:	lret
TRY
	in	$PORT, %al
	DONE
TRY
	out	%al, $PORT
	DONE
TRY
	hlt
	DONE
TRY
	mov	%cr3, %ecx
	DONE
TRY
	mov	%ecx, %cr3
	DONE
TRY
	lgdt	%ss:(%esp)
	DONE
TRY
	mov	$MSR_SYSENTER_EIP, %ecx
	rdmsr
	DONE
TRY
	mov	$MSR_SYSENTER_EIP, %ecx
	wrmsr
	DONE
TRY
	invlpg	(%ebx)
	DONE
TRY
	clts
	DONE
TRY
	mov	$SELECTOR_KERNEL_DATA, %ecx
	mov	%ecx, %ds
	DONE
TRY
	mov	%ss:driver_memory, %ecx
	DONE
TRY
	movl	$0, %ss:driver_memory
	DONE
TRY
	mov	%ss:(%ebx), %cl
	DONE
TRY
	call	*%ebx
	DONE
TRY
	mov	$NR_GETPPID, %eax
	int	$0x80
	DONE
TRY					# sysexit leads to ring 3, wherever sysenter was
	mov	$NR_GETPPID, %eax
	mov	%esp, %ebp
	sysenter

/* Of the kernel alone: no page of it is mapped for programs under isolation. */
	.bss
	.balign	4096
driver_memory:
	.skip	4096

	.section .note.GNU-stack, "", @progbits

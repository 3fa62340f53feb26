/*
 * The timed code, written once. An entry file defines three macros and says ENTRY:
 *
 *	LOAD	puts the invocation's arguments where the entry wants them
 *	ENTER	the entry: one instruction that enters the kernel (and what its ABI cannot do without)
 *	CONTROL	what stands in for ENTER in the control: nothing, or what the kernel would have undone
 *	UNLOAD	drops what LOAD has put on the stack
 *
 * ENTRY makes four functions of them:
 *
 *	void <name>_timed(struct sample *out, unsigned long count)
 *		Takes count samples. Each is: stamp, imul chain, stamp, LOAD CONTROL UNLOAD, stamp,
 *		LOAD ENTER UNLOAD, stamp; 32 bytes of out.
 *	void <name>_burst(struct sample *out)
 *		BURST controls between stamps 0 and 1, BURST entries between stamps 2 and 3, no fence within.
 *	void <name>_checked(void)
 *		One ENTER with every register filled; registers_before and registers_after tell them apart.
 *
 * All four take their arguments from `invocation`, in static memory below 2 GiB, because no register is
 * free in every ABI. Clobbers: what a C function may.
 *
 * machine.h (one for each bitness) has SAVE, RESTORE, the LOAD_* family and the register snapshot.
 */
#include "layout.h"
#include "entries.h"
#include "machine.h"

/*
 * Stores the TSC to stamps[slot]. Changes eax, edx.
 * The instruction set's reference asks for LFENCE on both sides (SDM vol. 2, RDTSC).
 */
.macro STAMP slot
	lfence			# all before it is done, the entry included
	rdtsc
	lfence			# nothing after it has begun
	mov	%eax, stamps + 8 * \slot
	mov	%edx, stamps + 8 * \slot + 4
.endm

/* IMULS dependent multiplications, three core cycles each. Changes ecx. */
.macro CHAIN
	.rept IMULS
	imul	%ecx, %ecx
	.endr
.endm

/* Copies stamps to *sample_out and advances it. Changes eax and the pointer register. */
.macro TAKE
	mov	sample_out, %POINTER
	.irp	offset, 0, 4, 8, 12, 16, 20, 24, 28
	mov	stamps + \offset, %eax
	mov	%eax, \offset(%POINTER)
	.endr
	add	$SAMPLE_SIZE, %POINTER
	mov	%POINTER, sample_out
.endm

/* Moves the first argument on, for entries that need a fresh address each time. Changes the pointer register. */
.macro ADVANCE
	mov	invocation + INVOCATION_STRIDE, %POINTER
	add	%POINTER, invocation + INVOCATION_ARGS
.endm

.macro ENTRY name
	.text
	.balign 64
	.globl \name\()_timed
	.type \name\()_timed, @function
\name\()_timed:
	SAVE
	GET_ARGUMENTS
1:	STAMP	0
	CHAIN
	STAMP	1
	LOAD
	CONTROL
	UNLOAD
	STAMP	2
	LOAD
	ENTER
	UNLOAD
	STAMP	3
	TAKE
	ADVANCE
	decl	sample_count
	jnz	1b
	RESTORE
	ret
	.size \name\()_timed, . - \name\()_timed

	.balign 64
	.globl \name\()_burst
	.type \name\()_burst, @function
\name\()_burst:
	SAVE
	GET_ARGUMENTS
	STAMP	0
	.rept BURST
	LOAD
	CONTROL
	UNLOAD
	ADVANCE
	.endr
	STAMP	1
	STAMP	2
	.rept BURST
	LOAD
	ENTER
	UNLOAD
	ADVANCE
	.endr
	STAMP	3
	TAKE
	RESTORE
	ret
	.size \name\()_burst, . - \name\()_burst

	.balign 64
	.globl \name\()_checked
	.type \name\()_checked, @function
\name\()_checked:
	SAVE
	POISON
	LOAD
	SNAPSHOT registers_before
	ENTER
	SNAPSHOT registers_after
	UNLOAD
	RESTORE
	ret
	.size \name\()_checked, . - \name\()_checked

	.section .note.GNU-stack, "", @progbits
.endm

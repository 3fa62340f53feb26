/*
 * Entries that protected mode alone has: what is in registers behind a call through each, which is what was there before but for eax, and but for the
 * arithmetic flags. The program is run as a probe is, so that exceptions serve.
 */
#include "case32.inc"

#define ARITHMETIC_FLAGS 0x8d5

#include "gates32.inc"

.macro KEEP where
	mov	%ebx, \where
	mov	%ecx, \where + 4
	mov	%edx, \where + 8
	mov	%esi, \where + 12
	mov	%edi, \where + 16
	mov	%ebp, \where + 20
	mov	%esp, \where + 24
	mov	%cs, \where + 28
	mov	%ss, \where + 32
	mov	%ds, \where + 36
	mov	%es, \where + 40
	mov	%fs, \where + 44
	mov	%gs, \where + 48
	pushf
	pop	\where + 52
.endm

.irp name, into, bound, absent_fs, absent_ss, limit, gate_32_1, gate_32_8, gate_16_0, gate_16_1, gate_16_8
CASE registers-\name
	mov	$NR32_GETPPID, %eax
	mov	$POISON_OF(1), %ebx
	mov	$POISON_OF(2), %ecx
	mov	$POISON_OF(3), %edx
	mov	$POISON_OF(4), %esi
	mov	$POISON_OF(5), %edi
	mov	$POISON_OF(6), %ebp
	PREPARE_\name
	KEEP	before
	ENTER_\name
	KEEP	behind
	jmp	compare

/* A number that no call has. */
CASE unknown-\name
	mov	$0x7fffffff, %eax
	PREPARE_\name
	ENTER_\name
	cmp	$-ENOSYS, %eax
	jne	wrong
	jmp	done
.endr

/* Behind a gate of 16 bits the upper half of esp is 0: nothing of the kernel's. */
.irp words, 0, 1, 8
CASE stack-gate_16_\words
	mov	$NR32_GETPPID, %eax
	PREPARE_gate_16_\words
	ENTER_gate_16_\words
	mov	narrow_stack, %eax
	cmp	%ax, %sp
	jne	wrong
	shr	$16, %eax
	jnz	wrong
	jmp	done
.endr

/*
 * In a kernel whose far return releases fewer bytes than the gate has copied, by the number, so that it takes two of the copied words for stack pointer and
 * stack segment. Of what is pushed here, the first, third, fifth and seventh have their place in them.
 */
.macro COPIED suffix, gate_at, bytes_shift
	mov	%esp, stack
	mov	$way_back, %ebp
	movl	$8f, way_back
	.irp	place, 7, 5, 3, 1
	push\suffix	$USER_DATA
	push\suffix	$0x1000 * \place
	.endr
	mov	$NR32_GETPPID, %eax
	\gate_at
8:	mov	%esp, %edx
	mov	stack, %esp
	cmp	$1, %eax
	jne	wrong
	mov	number, %eax
	mov	%eax, %ecx
	shr	$\bytes_shift, %ecx
	inc	%ecx
	shl	$12, %ecx
	add	%eax, %ecx
	cmp	%ecx, %edx
	jne	wrong
	jmp	done
.endm
CASE copied-32
	COPIED	l, "lcall $gate_32_8, $0", 2
CASE copied-16
	COPIED	w, "ljmp $conforming_segment, $there_8", 1

/* The status is 2 and more by the place of what differs. */
compare:
	cmp	$1, %eax
	jne	wrong
	andl	$~ARITHMETIC_FLAGS, before + 52
	andl	$~ARITHMETIC_FLAGS, behind + 52
	xor	%ecx, %ecx
1:	mov	before(, %ecx, 4), %eax
	cmp	behind(, %ecx, 4), %eax
	jne	2f
	inc	%ecx
	cmp	$14, %ecx
	jb	1b
	jmp	done
2:	lea	2(%ecx), %ebx
	SYSTEM_CALL NR_EXIT

/* Code of a conforming segment has the privileges of ring 3. The number says where in the page it enters: cs is answered. */
CASE conforming
	mov	$SELECTOR_CONFORMING, %eax
	push	%eax
	push	number
	lcall	*(%esp)
	cmp	$SELECTOR_CONFORMING, %eax
	jne	wrong
	jmp	done

	.bss
	.balign	4
before:	.skip	14 * 4
behind:	.skip	14 * 4

END_CASES

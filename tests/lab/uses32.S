/*
 * Random uses of descriptors, by a seed (protected/random.rs): whatever a program of 32 bits can do with selectors, gates and flags. Before each it
 * writes a byte. It goes on until one of them is its end, or it has made all.
 *
 * A use finds a selector in esi, a random number in edi, and goes on at `used`, in whatever segments it likes.
 */
#include "case32.inc"

#define MOST_USES 64

#define GATE_RING1 0xb3
#define GATE_RING2 0xc3
#define GATE_JUMP    0x118 /* leads to conforming code, as the next does */
#define GATE_JUMP_16 0x1e8

#define RFLAGS_RANDOM 0x257fd7 /* all that popf changes, and more; TF is drawn apart */

/* As often as it stands in the table. */
.macro USE name, times=1
	.pushsection .rodata.uses, "a"
	.rept	\times
	.long	8f
	.endr
	.popsection
	.text
8:
.endm

	.section .rodata.uses, "a"
	.balign	4
uses:

/* Selectors that name something: null, programs' own, those of thread-local storage, gates, the kernel's. */
	.section .rodata
	.balign	4
named:	.long	0, USER_CODE_32, USER_DATA, USER_DATA, USER_DATA, 0x83, 0x8b, 0x93, 0x9b
	.long	GATE_I386, GATE_SYSTEM_V, GATE_RING1, GATE_RING2, 0xa1, 0xb9, 0xd1
	.long	0x10, 0x18, 0x40, 0x48, 0x70
	.set	selector, 0xe3		# gates, tasks, segments of 16 bits, what exceptions take
	.rept	(0x200 - 0xe0) / 8
	.long	selector
	.set	selector, selector + 8
	.endr
named_end:
#define NAMED (named_end - named) / 4
#define OWN   9

	.data
	.balign	4
state:	.long	0
turns:	.long	MOST_USES
stack:	.long	0
wanted:	.fill	4, 4, 0
dot:	.ascii	"."
calls_no_jump_gate:
	.byte	0

	.text
/* To eax; Marsaglia's xorshift. Lost: ecx. */
random:
	mov	state, %eax
	mov	%eax, %ecx
	shl	$13, %ecx
	xor	%ecx, %eax
	mov	%eax, %ecx
	shr	$17, %ecx
	xor	%ecx, %eax
	mov	%eax, %ecx
	shl	$5, %ecx
	xor	%ecx, %eax
	mov	%eax, state
	ret

/* Below a number, to edx; eax is the quotient. Lost: ecx. */
.macro BELOW count
	call	random
	xor	%edx, %edx
	mov	$(\count), %ecx
	div	%ecx
.endm

CASE uses
	btr	$31, %eax
	setc	calls_no_jump_gate
	lea	1(, %eax, 2), %eax	# not 0
	imul	$0x9e3779b1, %eax
	mov	%eax, state
	mov	%esp, stack
	mov	$3, %edi		# at the beginning, each of the three is there
1:	call	take_own
	dec	%edi
	jnz	1b
	jmp	next

/* A segment as programs have it, by a number from 1 to 3. Lost: eax, ebx. */
take_own:
	lea	FIRST_TLS - 1(%edi), %eax
	mov	%eax, wanted
	movl	$0, wanted + 4
	movl	$0xfffff, wanted + 8
	movl	$0x51, wanted + 12
	mov	$wanted, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	ret

/* Behind a use: the segments that this program needs. FS and GS stay. */
used:
	mov	$USER_DATA, %ecx
	mov	%ecx, %ss
	mov	%ecx, %ds
	mov	%ecx, %es
	mov	stack, %esp
	push	$0x202
	popf
	decl	turns
	jz	done
next:
	mov	$1, %ebx
	mov	$dot, %ecx
	mov	$1, %edx
	SYSTEM_CALL NR_WRITE
	BELOW	4
	mov	$OWN, %ebx		# a register's own, three times of four
	test	%edx, %edx
	jnz	1f
	mov	$NAMED, %ebx
1:	call	random
	xor	%edx, %edx
	div	%ebx
	mov	named(, %edx, 4), %esi
	BELOW	8
	test	%edx, %edx
	jnz	2f
	mov	%eax, %esi		# any at all
	and	$0xffff, %esi
2:	call	random
	mov	%eax, %edi
	BELOW	(uses_end - uses) / 4
	jmp	*uses(, %edx, 4)

/* Asks the kernel, by an entry that uses no stack of the program's: it needs no segment but CS. */
ask:
	mov	$NR32_GETPPID, %eax
	test	$1, %edi
	jz	1f
	test	$2, %edi
	jz	2f
	test	$4, %edi
	jz	3f
	lcall	$GATE_SYSTEM_V, $0
	jmp	5f
1:	int	$0x80
	jmp	5f
2:	lcall	$GATE_I386, $0
	jmp	5f
3:	test	$0x78, %edi		# seldom: it is closed in QEMU
	jnz	1b
	lcall	$GATE_RING1, $0
5:	cmp	$1, %eax
	je	used
	mov	$USER_DATA, %ecx
	mov	%ecx, %ss
	mov	%ecx, %ds
	mov	stack, %esp
	jmp	wrong

.irp register, ds, es, fs, gs, ss
USE mov-\register, 6
	mov	%esi, %\register
	jmp	ask
.endr
.irp instruction, lar, lsl
USE \instruction, 12
	\instruction %esi, %eax
	jmp	ask
.endr
.irp instruction, verr, verw
USE \instruction, 12
	\instruction %si
	jmp	ask
.endr
USE arpl, 4
	arpl	%di, %si
	jmp	ask
.irp instruction, sldt, str, smsw
USE \instruction
	\instruction %eax
	jmp	ask
.endr
USE sgdt
	sgdt	wanted
	sidt	wanted
	jmp	ask
.irp instruction, lds, les, lfs, lgs, lss
USE \instruction
	mov	%edi, wanted
	mov	%esi, wanted + 4
	\instruction wanted, %eax
	jmp	ask
.endr
USE read-by-fs
	mov	%fs:(%edi), %al
	jmp	ask

USE set-thread-area, 8
	and	$3, %edi
	lea	FIRST_TLS - 1(%edi), %eax	# one of them is none
	mov	%eax, wanted
	call	random
	mov	%eax, wanted + 4
	call	random
	and	$0xfffff, %eax
	mov	%eax, wanted + 8
	call	random
	and	$0x7f, %eax
	mov	%eax, wanted + 12
	mov	$wanted, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	jmp	used
USE own-segment, 8
	and	$1, %edi
	inc	%edi
	call	take_own
	jmp	used

/* To eax: TF one time of eight. Lost: ecx, edx. */
random_flags:
	BELOW	8
	cmp	$1, %edx
	sbb	%edx, %edx
	and	$RFLAGS_TF, %edx
	push	%edx
	call	random
	and	$RFLAGS_RANDOM & ~RFLAGS_TF, %eax
	pop	%edx
	or	%edx, %eax
	ret

USE flags, 16
	call	random_flags
	push	%eax
	popf
	jmp	ask
USE flags-at-gateway, 4
	call	random_flags
	push	%eax
	mov	$NR32_GETPPID, %eax
	popf
	call	*gateway
	jmp	used
.irp name, sysenter, syscall
USE flags-at-\name
	call	random_flags
	mov	%eax, %ebx
	mov	$NR32_GETPPID, %eax
	PREPARE_\name
	push	%ebx
	popf
	ENTER_\name
9:	jmp	used
/* With a stack of the kernel's memory, or any other. */
USE stack-at-\name
	call	random_flags
	mov	%eax, %ebx
	test	$1, %edi
	jz	1f
	and	$0x007ffffc, %edi
	or	$0xc0000000, %edi
1:	mov	$NR32_GETPPID, %eax
	push	%ebx
	popf
	mov	%edi, %esp
	mov	%edi, %ebp
	ENTER_\name
	jmp	used
.endr

/* What pops TF comes directly before, from a segment whose base makes of the stack pointer an address of this program. */
.irp name, sysenter, syscall
USE trap-at-\name
	and	$0x007ffffc, %edi
	or	$0xc0000000, %edi
	push	$RFLAGS_TF
	mov	%esp, %edx
	sub	%edi, %edx
	mov	%edx, wanted + 4
	movl	$FIRST_TLS, wanted
	movl	$0xfffff, wanted + 8
	movl	$0x51, wanted + 12
	mov	$wanted, %ebx
	SYSTEM_CALL NR32_SET_THREAD_AREA
	mov	$FIRST_TLS * 8 + 3, %ecx
	mov	$NR32_GETPPID, %eax
	mov	%edi, %ebp
	mov	%ecx, %ss
	mov	%edi, %esp
	popf
	ENTER_\name
	jmp	used
.endr

/*
 * QEMU's emulation calls conforming code by a gate without CPL in CS (SDM vol. 2A, CALL: CS(RPL) := CPL), so that an exception there looks like the
 * kernel's own. With the number's highest bit, none is called so.
 */
.macro NOT_BY_JUMP_GATE
	cmpb	$0, calls_no_jump_gate
	je	1f
	mov	%esi, %eax
	and	$0xfffc, %eax
	cmp	$GATE_JUMP, %eax
	je	used
	cmp	$GATE_JUMP_16, %eax
	je	used
1:
.endm
USE lcall, 3
	NOT_BY_JUMP_GATE
	mov	$NR32_GETPPID, %eax
	push	%esi
	push	%edi
	lcall	*(%esp)
	jmp	used
USE ljmp, 3
	mov	$NR32_GETPPID, %eax
	push	%esi
	push	$used
	ljmp	*(%esp)
USE lcall-used
	NOT_BY_JUMP_GATE
	mov	$NR32_GETPPID, %eax
	push	%esi
	push	$used
	lcall	*(%esp)
USE lret
	mov	$NR32_GETPPID, %eax
	push	%edi
	push	%edi
	push	%esi
	push	$used
	lret
USE iret, 2
	call	random_flags
	push	$USER_DATA
	push	%edi
	push	%eax
	push	%esi
	push	$used
	mov	$NR32_GETPPID, %eax
	iret
USE int, 2
	mov	%edi, %ebx
	movzbl	%bl, %eax
	lea	vectors(, %eax, 8), %ecx
	mov	$NR32_GETPPID, %eax
	jmp	*%ecx
USE ports
	mov	%edi, %edx
	in	%dx, %al
	jmp	used
USE privileged
	and	$3, %edi
	jz	1f
	dec	%edi
	jz	2f
	dec	%edi
	jz	3f
	cli
1:	lldt	%si
2:	ltr	%si
3:	mov	%esi, %cr3

	.balign	8
vectors:
	.set	vector, 0
	.rept	256
	.balign	8
	.byte	0xcd, vector		# int
	jmp	used
	.set	vector, vector + 1
	.endr

	.section .rodata.uses, "a"
uses_end:

END_CASES

/*
 * Programs in virtual-8086 mode (lab/i386/entry/v86_thread.h), and in segments of 16 bits. A case is 16-bit code, which begins with DS, ES and SS at its
 * own segment and ends with a number in eax: 0, or what is wrong.
 */
#include "case32.inc"

#define NR_GETPPID  64
#define NR_YIELD    158
#define VECTOR_V86  0x44
#define REDIRECTED  0x21
#define CODE_16     0x17
#define DATA_16	    0x1f
#define BASE	    0x10000
#define PARAGRAPH   0x1000
#define STACK	    0x8000
#define UPPER_HALF  0x5a070000
#define DATA	    0x9000 /* offset of what cases may use */

#define FLAG_IF	    0x200
#define FLAGS_IOPL  0x3000
#define FLAG_NT	    0x4000
#define FLAG_VM	    0x20000
#define FLAG_VIF    0x80000
#define FLAG_VIP    0x100000

/* IF, or nothing, in a register. */
.macro READ_IF register
	pushf
	pop	%\register
	and	$FLAG_IF, %\register
.endm

/* The code of a case follows, until END_V86. `flags`: with which it begins. */
.macro V86 name, flags=0
CASE \name
	mov	$(6f - codes), %esi
	mov	$\flags, %edi
	jmp	by_v86
	.section .rodata.codes, "a"
	.code16
	.set	"begins-\name", . - codes
6:
.endm

/* What follows is the instruction of a case that may fault. */
.macro MAY_FAULT name
	.set	"faults-\name", . - codes
.endm

.macro END_V86
	int	$VECTOR_V86
	.code32
	.text
.endm

/* The same in protected mode. */
.macro SEGMENTS name
CASE \name
	mov	$(6f - codes), %esi
	jmp	by_segments
	.section .rodata.codes, "a"
	.code16
6:
.endm

.macro END_SEGMENTS
	ljmpl	$USER_CODE_32, $back
	.code32
	.text
.endm

/* One instruction, which ends the program. */
.macro IN_V86 name, instruction:vararg
V86 \name
	\instruction
	mov	$1, %eax
END_V86
.endm

	.section .rodata.codes, "a"
codes:

	.text
/* Memory at ebx, so many bytes: ecx. */
map:
	push	%esi
	push	%edi
	MAP_FIXED
	pop	%edi
	pop	%esi
	ret

/* The codes at BASE, and the 8086's table, which sends REDIRECTED to its handler. */
prepare:
	mov	$BASE, %ebx
	mov	$0x10000, %ecx
	call	map
	xor	%ebx, %ebx
	mov	$0x1000, %ecx
	call	map
	movl	$(PARAGRAPH << 16) + (handler - codes), 4 * REDIRECTED
	push	%esi
	push	%edi
	mov	$codes, %esi
	mov	$BASE, %edi
	mov	$(codes_end - codes), %ecx
	rep movsb
	pop	%edi
	pop	%esi
	ret

by_v86:
	call	prepare
	mov	$0x77770000, %ebp	# comes back as the mode has left it
	.rept	5			# gs, fs, ds, es, ss
	push	$PARAGRAPH
	.endr
	push	$UPPER_HALF + STACK
	push	%edi
	push	$PARAGRAPH
	push	%esi
	xor	%eax, %eax
	mov	%gs, %ecx
	mov	%esp, %ebx
	int	$VECTOR_V86
	cmp	%esp, %ebx		# which no case changes
	jne	wrong
	mov	%ds, %ecx
	cmp	$USER_DATA, %ecx
	jne	wrong
	xor	%ebx, %ebx
	test	%eax, %eax		# a status has eight bits
	setnz	%bl
	SYSTEM_CALL NR_EXIT

by_segments:
	call	prepare
	mov	%esi, there
	mov	%esp, stack_here
	lss	stack_there, %esp
	push	%ss
	pop	%ds
	push	%ss
	pop	%es
	xor	%eax, %eax
	ljmp	*%cs:there
back:	lss	%cs:stack_here, %esp
	push	%ss
	pop	%ds
	push	%ss
	pop	%es
	xor	%ebx, %ebx
	test	%eax, %eax		# a status has eight bits
	setnz	%bl
	SYSTEM_CALL NR_EXIT

	.section .rodata.codes, "a"
	.code16
/* What the table leads to: IF is off here, and what was pushed has it on, and IOPL 3. */
handler:
	push	%bp
	mov	%sp, %bp
	mov	6(%bp), %dx
	and	$(FLAG_IF | FLAGS_IOPL), %dx
	pop	%bp
	mov	$0x21, %cl
	pushf
	pop	%si
	iret
	.code32

	.text
/* In neither. */
CASE turns
	mov	$1500, %edi
1:	SYSTEM_CALL NR_YIELD
	test	%eax, %eax
	jnz	wrong
	dec	%edi
	jnz	1b
	jmp	done

/* Calls, and the instructions that the monitor knows. */
V86 getppid
	mov	$NR_GETPPID, %eax
	int	$0x80
	sub	$1, %eax		# the answer in the lab
END_V86

V86 yields
	mov	$1000, %edi
1:	mov	$NR_YIELD, %eax
	int	$0x80
	test	%eax, %eax
	jnz	2f
	dec	%edi
	jnz	1b
	mov	%ds, %ax		# and all segments are as they were
	mov	%fs, %dx
	mov	%gs, %cx
	sub	$PARAGRAPH, %eax
	sub	$PARAGRAPH, %dx
	sub	$PARAGRAPH, %cx
	or	%dx, %ax
	or	%cx, %ax
2:
END_V86

V86 no-call
	mov	$0x1fff, %eax
	int	$0x80
	add	$ENOSYS, %eax
END_V86

V86 exit
	mov	$NR_EXIT, %eax
	mov	$7, %ebx
	int	$0x80
	mov	$1, %eax
END_V86

V86 upper-half
	mov	%esp, %esi
	mov	$NR_GETPPID, %eax
	int	$0x80
	mov	%esp, %eax
	sub	%esi, %eax
	jnz	1f
	mov	%esp, %eax
	sub	$(UPPER_HALF + STACK), %eax
1:
END_V86

V86 interrupt-flag
	pushf
	pop	%dx
	cli
	pushf
	pop	%cx
	sti
	pushf
	pop	%si
	and	$FLAG_IF, %dx
	and	$FLAG_IF, %cx
	and	$FLAG_IF, %si
	xor	$FLAG_IF, %dx
	xor	$FLAG_IF, %si
	mov	%dx, %ax
	or	%cx, %ax
	or	%si, %ax
END_V86

V86 interrupt-flag-often
	mov	$1000, %edi
1:	cli
	READ_IF ax
	jnz	2f
	sti
	READ_IF ax
	xor	$FLAG_IF, %ax
	jnz	2f
	dec	%edi
	jnz	1b
2:
END_V86

V86 popf-interrupt-flag
	pushw	$2
	popf
	pushf
	pop	%dx
	pushw	$(FLAG_IF | 2 | 1)
	popf
	jnc	1f
	pushf
	pop	%cx
	and	$FLAG_IF, %dx
	and	$FLAG_IF, %cx
	xor	$FLAG_IF, %cx
	mov	%dx, %ax
	or	%cx, %ax
	jmp	2f
1:	mov	$1, %ax
2:
END_V86

/* VM, NT and what else is not an 8086's are not a program's to choose; IOPL reads as 3. */
V86 popf-vm
	pushl	$(FLAG_NT | FLAG_IF | 2)
	popfl
	pushfl
	pop	%eax
	xor	$(FLAGS_IOPL | FLAG_IF | 2), %eax
	pushl	$(FLAG_VM | FLAG_IF | 2)
	popfl
	mov	%cs, %dx		# a paragraph still
	sub	$PARAGRAPH, %dx
	or	%dx, %ax
END_V86

V86 iret
	pushw	$(FLAG_IF | 2 | 1)
	push	%cs
	push	$(2f - codes)
	iret
	mov	$3, %al
	jmp	3f
2:	adc	$-1, %eax		# CF came with the flags
3:
END_V86

V86 iretl-vm
	pushl	$(FLAG_VM | FLAG_IF | FLAG_NT | 2)
	pushl	$PARAGRAPH
	pushl	$(2f - codes)
	iretl
	mov	$3, %al
	jmp	3f
2:	mov	%cs, %ax
	sub	$PARAGRAPH, %ax
3:
END_V86

/* By the table at address 0. */
V86 reflected
	mov	$0x7777, %si
	int	$REDIRECTED
	mov	$(FLAG_IF | FLAGS_IOPL), %ax
	xor	%dx, %ax
	and	$FLAG_IF, %si
	or	%si, %ax
	xor	$0x21, %cl
	or	%cl, %al
	READ_IF dx
	xor	$FLAG_IF, %dx
	or	%dx, %ax
END_V86

/* The same by the processor; where it does not, the mode is not entered so. */
V86 redirected, FLAG_VIF
	mov	$0x7777, %si
	int	$REDIRECTED
	mov	$(FLAG_IF | FLAGS_IOPL), %ax
	xor	%dx, %ax
	and	$FLAG_IF, %si
	or	%si, %ax
	xor	$0x21, %cl
	or	%cl, %al
	READ_IF dx
	xor	$FLAG_IF, %dx
	or	%dx, %ax
END_V86

/* And a call, whose vector is not redirected. */
V86 redirected-call, FLAG_VIF
	cli
	mov	$NR_GETPPID, %eax
	int	$0x80
	dec	%eax
	READ_IF dx
	or	%dx, %ax
	sti
	READ_IF dx
	xor	$FLAG_IF, %dx
	or	%dx, %ax
END_V86

/*
 * With CR4.VME, and behind a prefix: these are the processor's alone, since the monitor knows none of them so. VIP is asked for, too, which no program
 * gets: with it, what would set IF faults, and with VIF besides, all.
 */
#define PREFIXED .byte 0x2e;		/* cs */
.macro READ_VIF register
	PREFIXED pushf
	pop	%\register
	and	$FLAG_IF, %\register
.endm
.macro TAKE_FLAGS name, flags
	pushw	$(\flags | 2)
	MAY_FAULT \name
	PREFIXED popf
.endm

V86 pending-cli, FLAG_VIF | FLAG_VIP
	PREFIXED cli
	READ_VIF ax
END_V86

V86 pending-sti, FLAG_VIF | FLAG_VIP
	PREFIXED cli
	MAY_FAULT pending-sti
	PREFIXED sti
	READ_VIF ax
	xor	$FLAG_IF, %ax
END_V86

V86 pending-popf-off, FLAG_VIF | FLAG_VIP
	TAKE_FLAGS pending-popf-off, 0
	READ_VIF ax
END_V86
V86 pending-popf-on, FLAG_VIF | FLAG_VIP
	PREFIXED cli
	TAKE_FLAGS pending-popf-on, FLAG_IF
	READ_VIF ax
	xor	$FLAG_IF, %ax
END_V86
V86 pending-popf-trap, FLAG_VIF | FLAG_VIP
	TAKE_FLAGS pending-popf-trap, RFLAGS_TF
END_V86

.macro RETURN_WITH name, flags
	pushw	$(\flags | 2)
	push	%cs
	push	$(2f - codes)
	MAY_FAULT \name
	PREFIXED iret
	mov	$1, %ax
	int	$VECTOR_V86
2:
.endm
V86 pending-iret-off, FLAG_VIF | FLAG_VIP
	RETURN_WITH pending-iret-off, 0
	READ_VIF ax
END_V86
V86 pending-iret-on, FLAG_VIF | FLAG_VIP
	PREFIXED cli
	RETURN_WITH pending-iret-on, FLAG_IF
	READ_VIF ax
	xor	$FLAG_IF, %ax
END_V86
V86 pending-iret-trap, FLAG_VIF | FLAG_VIP
	RETURN_WITH pending-iret-trap, RFLAGS_TF
END_V86

/* Of 32 bits, these are not the processor's. */
V86 pending-pushfl, FLAG_VIF | FLAG_VIP
	MAY_FAULT pending-pushfl
	PREFIXED pushfl
END_V86
V86 pending-popfl, FLAG_VIF | FLAG_VIP
	pushl	$2
	MAY_FAULT pending-popfl
	PREFIXED popfl
END_V86
V86 pending-iretl, FLAG_VIF | FLAG_VIP
	pushl	$2
	pushl	$PARAGRAPH
	pushl	$(2f - codes)
	MAY_FAULT pending-iretl
	PREFIXED iretl
2:
END_V86

/*
 * With IOPL 3, where the kernel gives that to who asks for it: int n takes the gate, if it may, and no monitor is asked. Gates from FIRST_BAD on are those
 * of protected/idt.rs.
 */
#define FIRST_BAD 0x5e
.macro INT_WITH_IOPL name, vector, flags=0
V86 iopl-\name, FLAGS_IOPL | \flags
	.byte	0xcd, \vector		# int $3, too, has two bytes
	mov	$1, %eax
END_V86
.endm
INT_WITH_IOPL open, 3
INT_WITH_IOPL closed, 0x40
INT_WITH_IOPL conforming, FIRST_BAD
INT_WITH_IOPL ring-1, FIRST_BAD + 1
INT_WITH_IOPL ring-2, FIRST_BAD + 2
INT_WITH_IOPL ring-3, FIRST_BAD + 3
/* With CR4.VME, too: the vector's bit is 1. */
INT_WITH_IOPL vme-closed, 0x40, FLAG_VIF

/* Ticks come. */
V86 long
	mov	$2000000, %ecx
1:	dec	%ecx
	jnz	1b
END_V86

V86 runaway
1:	jmp	1b
END_V86

/* CS is a paragraph whose low bits are 0, 1, 2, 3: nobody takes it for ring 0's. */
V86 paragraphs
	.set	paragraph, 1
	.rept	3
	ljmp	$PARAGRAPH + paragraph, $(1f - codes - 16 * paragraph)
1:	mov	$NR_GETPPID, %eax
	int	$0x80
	cmp	$1, %eax
	jne	3f
	pushf				# by the monitor
	popf
	mov	$500000, %ecx
2:	dec	%ecx
	jnz	2b
	.set	paragraph, paragraph + 1
	.endr
	xor	%eax, %eax
3:
END_V86

/* What the monitor does not do. */
IN_V86 hlt, hlt
IN_V86 in, inb $0x60, %al
IN_V86 out, outb %al, $0x80
IN_V86 insb, insb
IN_V86 read-cr0, mov %cr0, %eax
IN_V86 write-cr0, mov %eax, %cr0
IN_V86 read-dr7, mov %dr7, %eax
IN_V86 lgdt, lgdt DATA
IN_V86 lmsw, lmsw %ax
IN_V86 clts, clts
IN_V86 wrmsr, wrmsr
IN_V86 sysenter, sysenter
IN_V86 invd, invd
/* Of protected mode alone. */
IN_V86 ltr, ltr %ax
IN_V86 lldt, lldt %ax
IN_V86 sldt, sldt %ax
IN_V86 str, str %ax
IN_V86 lar, lar %ax, %ax
IN_V86 lsl, lsl %ax, %ax
IN_V86 verr, verr %ax
IN_V86 arpl, .byte 0x63, 0xc0
IN_V86 ud2, ud2
IN_V86 syscall, syscall
/* Gates 3 and 4: the first is open to programs. */
IN_V86 int3, int3
V86 into
	mov	$0x7fff, %ax
	inc	%ax
	into
END_V86
V86 bound
	movl	$0, DATA
	mov	$1, %ax
	bound	%ax, DATA
END_V86
V86 divide
	xor	%cx, %cx
	div	%cx
END_V86
V86 trap, RFLAGS_TF
	nop
	nop
END_V86
V86 popf-trap
	pushw	$(RFLAGS_TF | 2)
	popf
	nop
	nop
END_V86
V86 read-absent
	mov	$0x4000, %ax
	mov	%ax, %ds
	mov	0, %al
END_V86
V86 jump-absent
	ljmp	$0x4000, $0x10
END_V86
V86 stack-absent
	mov	$0x4000, %ax
	mov	%ax, %ss
	push	%ax
END_V86
/* A stack where the monitor cannot push. */
V86 pushf-absent
	mov	$0x4000, %ax
	mov	%ax, %ss
	pushf
END_V86
V86 table-absent
	int	$0xff			# 0:0, where nothing is but the table
END_V86
/* A read over the end of the segment, which emulators that check no limits do. */
V86 limit
	mov	0xffff, %ax
	xor	%eax, %eax
END_V86

SEGMENTS segments
	mov	$NR_GETPPID, %eax
	int	$0x80
	dec	%eax
	jnz	1f
	mov	%esp, %eax
	sub	$(UPPER_HALF + STACK), %eax
1:
END_SEGMENTS

/* By exceptions that come back: a page that comes when it is touched, and ticks. */
SEGMENTS segments-exceptions
	mov	%al, DATA
	mov	%al, DATA + 0x1000
	mov	%al, DATA + 0x2000
	mov	%esp, %eax
	sub	$(UPPER_HALF + STACK), %eax
	jnz	2f
	mov	$2000000, %ecx
1:	dec	%ecx
	jnz	1b
	mov	%esp, %eax
	sub	$(UPPER_HALF + STACK), %eax
2:
END_SEGMENTS

/* To eax: not 0 if esp is neither what it was nor, in its upper half, 0: Bochs pushes sp alone where a call gate of 32 bits is called. */
.macro COMPARE_BEHIND_CALL
	mov	%esp, %eax
	test	$0xffff0000, %eax
	jnz	3f
	or	$UPPER_HALF, %eax
3:	sub	$(UPPER_HALF + STACK), %eax
.endm

SEGMENTS segments-yields
	mov	$1000, %edi
1:	mov	$NR_YIELD, %eax
	int	$0x80
	test	%eax, %eax
	jnz	2f
	mov	%esp, %eax
	sub	$(UPPER_HALF + STACK), %eax
	jnz	2f
	dec	%edi
	jnz	1b
2:
END_SEGMENTS

SEGMENTS segments-call-gate-often
	mov	$3000, %edi
1:	mov	$NR_GETPPID, %eax
	lcall	$GATE_I386, $0
	dec	%eax
	jnz	2f
	COMPARE_BEHIND_CALL
	jnz	2f
	dec	%edi
	jnz	1b
2:
END_SEGMENTS

SEGMENTS segments-call-gate
	mov	$NR_GETPPID, %eax
	lcall	$GATE_I386, $0
	dec	%eax
	jnz	1f
	COMPARE_BEHIND_CALL
1:
END_SEGMENTS

SEGMENTS segments-lcall7
	mov	$NR_GETPPID, %eax
	lcall	$GATE_SYSTEM_V, $0
	dec	%eax
	jnz	1f
	COMPARE_BEHIND_CALL
1:
END_SEGMENTS

/* A debug trap at the gate's first instruction, which is the kernel's: behind it, the program's segments are what they were. */
SEGMENTS segments-trap
	mov	$NR_GETPPID, %eax
	pushl	$(RFLAGS_TF | 2)
	popfl
	lcall	$GATE_I386, $0
	dec	%eax
	jnz	1f
	mov	%ds, %ax
	sub	$DATA_16, %ax
	jnz	1f
	mov	%es, %ax
	sub	$DATA_16, %ax
1:
END_SEGMENTS

SEGMENTS segments-ring1
	mov	$NR_GETPPID, %eax
	lcall	$0xb3, $0
	mov	$1, %eax
END_SEGMENTS

/* iret there is the fault, by a stack pointer that is no pointer: none, since sp is not looked at. */
SEGMENTS segments-stack
	mov	$0x12340001, %esp
	mov	$NR_GETPPID, %eax
	int	$0x80
	dec	%eax
	jnz	1f
	mov	%esp, %eax
	sub	$0x12340001, %eax
1:	mov	$(UPPER_HALF + STACK), %esp
END_SEGMENTS

	.section .rodata.codes, "a"
codes_end:

	.data
	.balign	8
there:	.long	0
	.word	CODE_16
	.balign	8
stack_here:
	.long	0
	.word	USER_DATA
	.balign	8
stack_there:
	.long	UPPER_HALF + STACK
	.word	DATA_16

END_CASES

/*
 * Switches of tasks that must fault, and what else ring 0 alone can provoke, for tests/lab/protected/tasks.rs. It runs in a kernel in which one system
 * call is another: POKE exchanges a word of the kernel's memory. So the program makes descriptors and a TSS as wrong as a case wants them, and switches
 * to that task.
 *
 * What faults before the switch is the program's fault, and ends it. What faults behind it is the new task's, which has no stack that could be
 * used: it is taken by a task gate, to a task in this program that runs in ring 0, notes what came, and jumps back to the program.
 * So this needs smap=off, smep=off and pti=off; and paging=wide, for cases of other page tables.
 *
 * GDT, IDT and TSS are where the kernel has them, by the command line; POKE is the number of that call.
 */
#include "case32.inc"

#define NEW_TASK	0x160		/* the task that is switched to */
#define GATE		0x168		/* to it, or to whatever a case says */
#define TAKER		0x170		/* the task that takes faults */
#define ODD		0x178		/* a segment or an LDT that a case has */
#define VECTOR		0x50

#define NR_SWITCH	509

#define KERNEL_CODE	0x10
#define KERNEL_DATA	0x18
#define USER_CODE	0x20		/* with RPL 0 */
#define TASK_OF_PROGRAMS 0x40

#define TSS_LIMIT	0x67
#define TYPE_TSS	0x8900		/* present, as the upper word has it */
#define TYPE_GATE	0xe500		/* with DPL 3 */
#define BUSY		0x200
#define LINK		0
#define CR3		0x1c
#define EIP		0x20
#define ESP		0x38
#define MSR_SYSENTER_CS	0x174
#define ES		0x48
#define CS		0x4c
#define SS		0x50
#define DS		0x54
#define LDTR		0x60
#define DEBUG		0x64

/* Of 16 bits. */
#define IP_16		14
#define ES_16		34
#define SS_16		38
#define LDTR_16		42

#define LOW		0x2000		/* which 16 bits name */
#define ABSENT		0x1000		/* where no page is */
#define KERNEL_BASE	0xc0000000	/* memory, as the kernel has it (lab/i386/mm/addresses.h) */
#define SECOND_GIB	0x40000000	/* what the second entry of three levels' top table maps */
#define TOP_WORDS	8		/* of that table */
#define CR4_CET		0x800000
#define CET_LIMIT	0x6b		/* SSP is a part of the TSS */
#define NO_CET_LIMIT	0x6a

.macro POKE_WORD where, what
	mov	\where, %ebx
	mov	\what, %ecx
	SYSTEM_CALL POKE
.endm

.macro DESCRIPTOR selector, low, high
	POKE_WORD $GDT+\selector, \low
	POKE_WORD $GDT+\selector+4, \high
.endm

/* A TSS at edx. */
.macro TASK_AT selector, limit=TSS_LIMIT, type=TYPE_TSS
	mov	%edx, %ecx
	shl	$16, %ecx
	or	$\limit, %ecx
	mov	%ecx, %esi
	mov	%edx, %edi
	shr	$16, %edi
	and	$0xff, %edi
	and	$0xff000000, %edx
	or	%edx, %edi
	or	$\type, %edi
	DESCRIPTOR \selector, %esi, %edi
.endm

.macro NEW_TASK_IS limit=TSS_LIMIT, type=TYPE_TSS
	mov	$new_tss, %edx
	TASK_AT	NEW_TASK, \limit, \type
.endm

.macro GATE_IS selector, type=TYPE_GATE
	DESCRIPTOR GATE, $\selector<<16, $\type
.endm

.macro VECTOR_IS selector, type=TYPE_GATE
	POKE_WORD $IDT+8*VECTOR, $\selector<<16
	POKE_WORD $IDT+8*VECTOR+4, $\type
.endm

/* A case that ends the program, unless the switch goes well; `way` may be in the middle of what is to be done. */
.macro CASE_WITH name, prepare:vararg
CASE \name
	call	prepare
	\prepare
.endm

#define CALL lcall $GATE + 3, $0
#define JUMP ljmp $GATE + 3, $0
#define INT  int $VECTOR

/* Each of the three ways. */
.macro WAYS name, prepare:vararg
CASE_WITH \name-call, \prepare
	CALL
	jmp	went
CASE_WITH \name-jump, \prepare
	JUMP
	jmp	went
CASE_WITH \name-int, \prepare
	INT
	jmp	went
.endm

.macro GATES_ARE selector, type=TYPE_GATE
	GATE_IS	\selector, \type
	VECTOR_IS \selector, \type
.endm

WAYS right
WAYS gate-privilege,	GATES_ARE NEW_TASK, 0x8500
WAYS gate-not-present,	GATES_ARE NEW_TASK, 0x6500
WAYS gate-both,		GATES_ARE NEW_TASK, 0x0500
WAYS gate-local,	GATES_ARE 0x164
WAYS gate-null,		GATES_ARE 0
WAYS gate-beyond,	GATES_ARE 0x200
WAYS gate-no-tss,	GATES_ARE KERNEL_CODE
WAYS gate-current,	GATES_ARE TASK_OF_PROGRAMS
WAYS busy,		NEW_TASK_IS TSS_LIMIT, 0x8b00
WAYS not-present,	NEW_TASK_IS TSS_LIMIT, 0x0900
WAYS limit,		NEW_TASK_IS 0x66
WAYS limit-16,		NEW_TASK_IS 0x2a, 0x8100
CASE_WITH tss-call				# not by a gate: its own privilege counts
	lcall	$NEW_TASK + 3, $0
	jmp	went
CASE_WITH tss-jump
	ljmp	$NEW_TASK + 3, $0
	jmp	went
CASE_WITH tss-open
	NEW_TASK_IS TSS_LIMIT, 0xe900
	lcall	$NEW_TASK + 3, $0
	jmp	went
CASE_WITH tss-absent				# its page is not there
	mov	$ABSENT, %edx
	TASK_AT	NEW_TASK
	CALL
	jmp	went

/* A program that has set NT returns to what the link of the TSS of programs names. */
.macro RETURNS name, link, prepare:vararg
CASE_WITH link-\name, \prepare
	POKE_WORD $TSS+LINK, $\link
	pushf
	orl	$RFLAGS_NT, (%esp)
	popf
	iret
.endm
RETURNS null,		0
RETURNS local,		0x164
RETURNS beyond,		0x200
RETURNS no-tss,		KERNEL_CODE
RETURNS available,	NEW_TASK
RETURNS not-present,	NEW_TASK, NEW_TASK_IS TSS_LIMIT, 0x0b00

/* Puts the link right that those before have left. */
CASE_WITH right-link
	jmp	done

/* A case whose fault is the new task's: the vector, the field of its TSS and what it is, and the halves of a descriptor at ODD. */
.macro NEW name, vector, field, value, odd=0, low=0xffff, prepare:vararg
CASE_WITH new-\name, \prepare
	DESCRIPTOR ODD, $\low, $\odd
	movl	$\value, new_tss + \field
	POKE_WORD $IDT+8*\vector, $TAKER<<16
	mov	%eax, before
	POKE_WORD $IDT+8*\vector+4, $0x8500
	mov	%eax, before+4
	.if	\vector == 1
	movl	$0, has_code
	.endif
	.if	\vector == 14
	movl	$taker_of_page, taker_tss + EIP
	.endif
	CALL
	POKE_WORD $IDT+8*\vector, before
	POKE_WORD $IDT+8*\vector+4, before+4
	jmp	tell
.endm
NEW ldt-local,		10, LDTR, 0x17c, 0x8200
NEW ldt-beyond,		10, LDTR, 0x200
NEW ldt-no-ldt,		10, LDTR, KERNEL_DATA
NEW ldt-not-present,	10, LDTR, ODD, 0x0200
NEW cs-null,		10, CS, 0
NEW cs-beyond,		10, CS, 0x200
NEW cs-data,		10, CS, KERNEL_DATA
NEW cs-not-present,	11, CS, ODD, 0x00cf1b00
NEW ss-null,		10, SS, 0
NEW ss-beyond,		10, SS, 0x200
NEW ss-code,		10, SS, KERNEL_CODE
NEW ss-outer,		10, SS, USER_DATA
NEW ss-not-present,	12, SS, ODD, 0x00cf1300
NEW ss-not-present-tcg,	11, SS, ODD, 0x00cf1300
NEW ds-beyond,		10, DS, 0x200
NEW ds-system,		10, DS, TASK_OF_PROGRAMS
NEW ds-not-present,	11, DS, ODD, 0x00cf1300
NEW ds-null,		10, DS, 0
NEW debug,		1, DEBUG, 1
NEW cs-outer,		10, CS, ODD, 0x00cffb00
NEW cs-conforming-outer, 10, CS, ODD, 0x00cfff00
NEW cs-conforming,	10, CS, ODD + 3, 0x00cf9f00, 0xffff, call use_ring_3
NEW cs-limit,		13, CS, ODD, 0x00409b00, 0xfff

/* Its top table is another, whose second entry is what the program has there, with this mask; its code is in what that entry maps. */
.macro OTHER_TABLES mask
	movl	$\mask, entry_mask
	call	prepare_tables
.endm
NEW tables-right,	14, ESP, new_tss_stack, 0, 0xffff, OTHER_TABLES -1
NEW tables-code,	14, ESP, new_tss_stack, 0, 0xffff, OTHER_TABLES 0
/* Its stack is there, too, so that the kernel's handler of #PF, which is no task, cannot be entered. */
NEW tables-stack,	8, ESP, SECOND_GIB + 0x1000, 0, 0xffff, OTHER_TABLES 0

/* A task of ring 3 whose TSS has 16 bits, and with them no bitmap of ports. Where one of 32 bits has its own, there are zeroes, and inside the limit. */
NEW ports-16,		13, IP_16, LOW | 2 << 16, 0, 0xffff, call use_16

/* To esi and edi: a gate to `code`, in ring 0. */
.macro GATE_HALVES code, type
	mov	$\code, %edx
	movzwl	%dx, %esi
	or	$KERNEL_CODE<<16, %esi
	mov	%edx, %edi
	and	$0xffff0000, %edi
	or	$\type, %edi
.endm

/* ODD is a call gate there. */
.macro GATE_TO code
	GATE_HALVES \code, 0xec00
	DESCRIPTOR ODD, %esi, %edi
.endm

/* A case's gate of this vector, in place of the kernel's, which comes back behind it. */
.macro INSTEAD vector, low, high
	movl	$IDT+8*\vector, instead
	POKE_WORD $IDT+8*\vector, $\low
	mov	%eax, kernels
	POKE_WORD $IDT+8*\vector+4, $\high
	mov	%eax, kernels+4
.endm

/* #GP is the new task's, whose TSS's page is not there. */
.macro TO_ABSENT_TASK
	mov	$ABSENT, %edx
	TASK_AT	NEW_TASK
	INSTEAD	13, NEW_TASK<<16, 0x8500
.endm

/* The limit of the new task's TSS and its type, with room for SSP in the taker's. */
.macro CET_TASKS limit, type=TYPE_TSS
	NEW_TASK_IS \limit, \type
	mov	$taker_tss, %edx
	TASK_AT	TAKER, CET_LIMIT
.endm

/* An instruction of ring 0 that faults: its address, and where to go on. The vector's handler is the taker meanwhile. */
.macro IN_KERNEL name, vector, code, prepare:vararg
CASE_WITH kernel-\name, \prepare
	GATE_TO	\code
	mov	number, %eax
	mov	%eax, selector
	movl	$taker_of_kernel, taker_tss + EIP
	movl	$\code\()_faults, faults
	movl	$\code\()_behind, behind
	POKE_WORD $IDT+8*\vector, $TAKER<<16
	mov	%eax, before
	POKE_WORD $IDT+8*\vector+4, $0x8500
	mov	%eax, before+4
	lcall	$ODD + 3, $0
	POKE_WORD $IDT+8*\vector, before
	POKE_WORD $IDT+8*\vector+4, before+4
	jmp	tell
.endm
IN_KERNEL ltr,			13, load_task
IN_KERNEL ltr-busy,		13, load_task, NEW_TASK_IS TSS_LIMIT, 0x8b00
IN_KERNEL ltr-not-present,	11, load_task, NEW_TASK_IS TSS_LIMIT, 0x0900
IN_KERNEL sysexit,		13, leave_fast
IN_KERNEL int-outer,		13, interrupt, VECTOR_IS USER_CODE, 0x8e00
IN_KERNEL jump-outer,		13, jump_outer
IN_KERNEL jump-rpl,		13, jump_rpl
IN_KERNEL call-conforming,	13, call_conforming, DESCRIPTOR NEW_TASK, $0xffff, $0x00cfff00
IN_KERNEL gp-then-np,		8, load_task, INSTEAD 13, 0, 0x0e00
IN_KERNEL pf-then-np,		8, read_absent, INSTEAD 14, 0, 0x0e00
IN_KERNEL gp-then-pf,		14, load_task, TO_ABSENT_TASK
IN_KERNEL cet-right,		10, call_with_cet, CET_TASKS CET_LIMIT
IN_KERNEL cet-limit,		10, call_with_cet, CET_TASKS NO_CET_LIMIT
IN_KERNEL cet-16,		10, call_with_cet, CET_TASKS TSS_LIMIT, 0x8100

/*
 * The page of a TSS that is left is not there. No task can take that #PF, since the switch to it would be one more: it is taken by an interrupt gate. The
 * task of programs loads TR with the new task's TSS, and switches to another.
 */
CASE old-absent
	call	prepare
	mov	$ABSENT, %edx
	TASK_AT	NEW_TASK
	GATE_IS	TAKER
	GATE_TO	leave_absent
	GATE_HALVES page_taker, 0x8e00
	movl	$leave_absent_faults, faults
	POKE_WORD $IDT+8*14, %esi
	mov	%eax, before
	POKE_WORD $IDT+8*14+4, %edi
	mov	%eax, before+4
	lcall	$ODD + 3, $0
	POKE_WORD $IDT+8*14, before
	POKE_WORD $IDT+8*14+4, before+4
	jmp	tell

/* A service that enters another address space, and comes back; and CR3 before and behind it, which a call gate of ring 0 tells. */
.irp name, task_int, task_call, task_jmp, task_16, task_nested, double_fault
CASE tables-\name
	GATE_TO	read_tables
	lcall	$ODD + 3, $0
	mov	%eax, %edi
	mov	$NR_SWITCH, %eax
	ENTER_\name
	test	%eax, %eax
	jnz	wrong
	lcall	$ODD + 3, $0
	cmp	%eax, %edi
	jne	wrong
	jmp	done
.endr

went:	cmpl	$1, entered
	jne	wrong
	jmp	done

/* What came: whether a fault was taken, its error code, eip behind the beginning, whether the task ran, and the link of the taker. */
tell:	mov	instead, %esi
	test	%esi, %esi
	jz	1f
	POKE_WORD %esi, kernels
	add	$4, %esi
	POKE_WORD %esi, kernels+4
1:	mov	taker_tss + LINK, %eax
	mov	%eax, report + 16
	mov	entered, %eax
	mov	%eax, report + 12
	mov	$1, %ebx
	mov	$report, %ecx
	mov	$20, %edx
	SYSTEM_CALL NR_WRITE
	jmp	done

/* As everything is that a case does not change; and touches what ring 0 will use. */
prepare:
	POKE_WORD $TSS+LINK, $0
	POKE_WORD $TSS+CR3, $0
	mov	%eax, new_tss+CR3
	mov	%eax, taker_tss + CR3
	POKE_WORD $TSS+CR3, new_tss+CR3
	NEW_TASK_IS
	mov	$taker_tss, %edx
	TASK_AT	TAKER
	GATES_ARE NEW_TASK
	mov	new_code, %al
	mov	taker, %al
	mov	page_taker, %al
	ret

use_ring_3:
	movl	$USER_DATA, new_tss + SS
	movl	$USER_DATA, new_tss + DS
	movl	$USER_DATA, new_tss + ES
	ret

use_16:	mov	$LOW, %ebx
	call	map
	mov	$ports_code, %esi
	mov	$LOW, %edi
	mov	$(ports_code_end - ports_code), %ecx
	rep movsb
	movl	$(USER_DATA | (USER_CODE + 3) << 16), new_tss + ES_16
	movl	$(USER_DATA | USER_DATA << 16), new_tss + SS_16
	movw	$0, new_tss + LDTR_16
	movl	$taker_of_16, taker_tss + EIP
	movl	$LOW, first
	NEW_TASK_IS 0x7f, 0x8100
	ret

/* A page at ebx. */
map:	mov	$0x1000, %ecx
	MAP_FIXED
	ret

/* The new task begins with a jump in the second GiB, and has other tables. */
prepare_tables:
	mov	$SECOND_GIB, %ebx
	call	map
	movb	$0xb8, SECOND_GIB	# mov $new_code, %eax
	movl	$new_code, SECOND_GIB + 1
	movw	$0xe0ff, SECOND_GIB + 5	# jmp *%eax
	movl	$SECOND_GIB, first
	movl	$SECOND_GIB, new_tss + EIP
	GATE_TO	copy_tables
	lcall	$ODD + 3, $0
	ret

/* In ring 0. */
read_tables:
	mov	%cr3, %eax
	lret

/* Behind the top table, of which the processor reads no more than its four entries. */
copy_tables:
	mov	new_tss + CR3, %esi
	add	$KERNEL_BASE, %esi
	lea	4 * TOP_WORDS(%esi), %edi
	mov	$TOP_WORDS, %ecx
	rep movsl
	mov	entry_mask, %eax
	and	%eax, 8(%esi)		# esi: the copy
	addl	$4 * TOP_WORDS, new_tss + CR3
	lret

/* CR0.WP is set, as it must be; S_CET and U_CET are 0. */
call_with_cet:
	cli
	mov	%cr4, %eax
	or	$CR4_CET, %eax
	mov	%eax, %cr4
call_with_cet_faults:
	lcall	$GATE, $0
call_with_cet_behind:
	mov	%cr4, %eax
	and	$~CR4_CET, %eax
	mov	%eax, %cr4
	sti
	lret

leave_absent:
	cli
	mov	$NEW_TASK, %eax
	ltr	%ax
leave_absent_faults:
	lcall	$GATE, $0

/* How far eip is from there, and whether CR2 is outside of that TSS; TR, as if it were the taker's link; and whether the task that was called is busy. */
page_taker:
	pop	report + 4
	pop	%eax
	sub	faults, %eax
	mov	%cr2, %ecx
	sub	$ABSENT, %ecx
	cmp	$TSS_LIMIT, %ecx
	seta	%cl
	movzbl	%cl, %ecx
	or	%ecx, %eax
	mov	%eax, report + 8
	movl	$1, report
	str	%eax
	movzwl	%ax, %eax
	mov	%eax, taker_tss + LINK
	testb	$BUSY >> 8, GDT + TAKER + 5
	setnz	entered
	mov	$TASK_OF_PROGRAMS, %eax
	andb	$~(BUSY >> 8), GDT + TASK_OF_PROGRAMS + 5
	ltr	%ax
	add	$8, %esp		# cs, eflags
	sti
	lret

load_task:
	cli
	mov	selector, %eax
load_task_faults:
	ltr	%ax
load_task_behind:
	sti
	lret

read_absent:
	cli
read_absent_faults:
	mov	ABSENT, %eax
read_absent_behind:
	sti
	lret

/* To code of ring 3 from ring 0, or as if ring 3 had asked for it. */
.macro TO_OUTER name, instruction:vararg
\name:	cli
\name\()_faults:
	\instruction
\name\()_behind:
	sti
	lret
.endm
TO_OUTER interrupt, int $VECTOR
TO_OUTER jump_outer, ljmp $USER_CODE, $jump_outer_behind
TO_OUTER jump_rpl, ljmp $KERNEL_CODE + 3, $jump_rpl_behind
TO_OUTER call_conforming, lcall $NEW_TASK, $call_conforming_behind

/* With a null selector in SYSENTER_CS, which no program's sysexit finds: there is sysenter in front of it. */
leave_fast:
	cli
	mov	$MSR_SYSENTER_CS, %ecx
	rdmsr
	push	%eax
	xor	%eax, %eax
	xor	%edx, %edx
	wrmsr
leave_fast_faults:
	sysexit
leave_fast_behind:
	mov	$MSR_SYSENTER_CS, %ecx
	xor	%edx, %edx
	pop	%eax
	wrmsr
	sti
	lret

new_code:
	movl	$1, %ss:entered		# DS may be null
	pushf
	testl	$RFLAGS_NT, (%esp)
	jz	1f
	popf
	iret
1:	popf
	ljmp	$TASK_OF_PROGRAMS, $0

ports_code:
	in	$1, %al
	movl	$1, %ss:entered
	iret
ports_code_end:

taker_of_16:
	movzwl	new_tss + IP_16, %eax
	mov	%eax, new_tss + EIP
	jmp	taker
/* CR2 is as far from the beginning as eip. */
taker_of_page:
	mov	%cr2, %ecx
	sub	first, %ecx
	mov	%ecx, report + 8
taker:	cmpl	$0, has_code
	je	1f
	pop	%eax
	mov	%eax, report + 4
1:	movl	$1, report
	mov	new_tss + EIP, %eax
	sub	first, %eax
	or	%eax, report + 8
	andb	$~(BUSY >> 8), GDT + TASK_OF_PROGRAMS + 5
	andb	$~(BUSY >> 8), GDT + NEW_TASK + 5
	ljmp	$TASK_OF_PROGRAMS, $0

/* The same of a fault in ring 0, of the task of programs: how far from where it should be; it goes on behind that. */
taker_of_kernel:
	pop	%eax
	mov	%eax, report + 4
	movl	$1, report
	mov	TSS + EIP, %eax
	sub	faults, %eax
	mov	%eax, report + 8
	mov	behind, %eax
	mov	%eax, TSS + EIP
	andb	$~(BUSY >> 8), GDT + TASK_OF_PROGRAMS + 5
	ljmp	$TASK_OF_PROGRAMS, $0

	.data
	.balign	4096
.macro TASK_STATE name, eip
\name:	.fill	8, 4, 0			# link, stacks of rings, CR3
	.long	\eip, 2			# eip, eflags
	.fill	4, 4, 0
	.long	\name\()_stack
	.fill	3, 4, 0
	.long	KERNEL_DATA, KERNEL_CODE, KERNEL_DATA, KERNEL_DATA, 0, 0, 0	# ES, CS, SS, DS, FS, GS, LDT
	.word	0, TSS_LIMIT + 1
	.balign	128
.endm
TASK_STATE new_tss, new_code
TASK_STATE taker_tss, taker
	.fill	512, 1, 0
new_tss_stack:
	.fill	512, 1, 0
taker_tss_stack:
entered:
	.long	0
has_code:
	.long	1
before:	.long	0, 0
instead:				/* of a gate of the kernel's, or null; and that gate */
	.long	0
kernels:
	.long	0, 0
first:	.long	new_code		/* the new task's first instruction */
entry_mask:
	.long	0
selector:
	.long	0
faults:	.long	0
behind:	.long	0
report:	.long	0, 0, 0, 0, 0

END_CASES

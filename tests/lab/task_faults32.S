/*
 * Switches of tasks that must fault, for tests/lab/protected/tasks.rs. It runs in a kernel in which one system call is another: POKE exchanges a
 * word of the kernel's memory. So the program makes descriptors and a TSS as wrong as a case wants them, and switches to that task.
 *
 * What faults before the switch is the program's fault, and ends it. What faults behind it is the new task's, which has no stack that could be
 * used: it is taken by a task gate, to a task in this program that runs in ring 0, notes what came, and jumps back to the program.
 * So this needs smap=off, smep=off and pti=off.
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
#define TASK_OF_PROGRAMS 0x40

#define TSS_LIMIT	0x67
#define TYPE_TSS	0x8900		/* present, as the upper word has it */
#define TYPE_GATE	0xe500		/* with DPL 3 */
#define BUSY		0x200
#define LINK		0
#define CR3		0x1c
#define EIP		0x20
#define MSR_SYSENTER_CS	0x174
#define CS		0x4c
#define SS		0x50
#define DS		0x54
#define LDTR		0x60
#define DEBUG		0x64

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
	mov	$0x1000, %edx
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

/* A case whose fault is the new task's: the vector, the field of its TSS and what it is, and a descriptor at ODD. */
.macro NEW name, vector, field, value, odd=0
CASE_WITH new-\name
	DESCRIPTOR ODD, $0xffff, $\odd
	movl	$\value, new_tss + \field
	POKE_WORD $IDT+8*\vector, $TAKER<<16
	mov	%eax, before
	POKE_WORD $IDT+8*\vector+4, $0x8500
	mov	%eax, before+4
	.if	\vector == 1
	movl	$0, has_code
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

/* ODD is a gate to `code`, in ring 0. */
.macro GATE_TO code
	mov	$\code, %edx
	movzwl	%dx, %esi
	or	$KERNEL_CODE<<16, %esi
	mov	%edx, %edi
	and	$0xffff0000, %edi
	or	$0xec00, %edi
	DESCRIPTOR ODD, %esi, %edi
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
tell:	mov	taker_tss + LINK, %eax
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
	ret

/* In ring 0. */
read_tables:
	mov	%cr3, %eax
	lret

load_task:
	cli
	mov	selector, %eax
load_task_faults:
	ltr	%ax
load_task_behind:
	sti
	lret

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

taker:	cmpl	$0, has_code
	je	1f
	pop	%eax
	mov	%eax, report + 4
1:	movl	$1, report
	mov	new_tss + EIP, %eax
	sub	$new_code, %eax
	mov	%eax, report + 8
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
	.long	KERNEL_DATA, KERNEL_CODE, KERNEL_DATA, KERNEL_DATA, 0, 0, 0
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
selector:
	.long	0
faults:	.long	0
behind:	.long	0
report:	.long	0, 0, 0, 0, 0

END_CASES

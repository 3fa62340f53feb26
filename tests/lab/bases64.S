/*
 * The base of GS across every entry: argv[1] names the entry, argv[2] is the base. It is set by wrgsbase, and must be there behind the
 * entry, behind the call of arch_prctl that reads it, and behind an exception that is served (a page that is touched first). Exit status
 * 2: arch_prctl saw another; 3: the processor.
 */
#include "case64.inc"

#define ARCH_GET_GS	0x1004
#define TIMES		3
#define OFTEN		20000

.macro KEEP name
CASE \name
	wrgsbase %rax
	movl	$TIMES, left
1:	mov	$NUMBER_\name, %eax
	PREPARE_\name
	ENTER_\name
9:	call	check
	decl	left
	jnz	1b
	jmp	done
.endm
.irp name, ENTRIES
KEEP \name
/* So often that a tick comes at every instruction of it. */
CASE often-\name
	wrgsbase %rax
	movl	$OFTEN, left
1:	mov	$NUMBER_\name, %eax
	PREPARE_\name
	ENTER_\name
9:	rdgsbase %rcx
	cmp	%rcx, number
	jne	lost
	decl	left
	jnz	1b
	jmp	done
.endr

check:	rdgsbase %rcx
	cmp	%rcx, number
	jne	lost
	mov	left, %eax
	shl	$12, %eax
	mov	%eax, pages(%rax)	# a page fault
	mov	$ARCH_GET_GS, %edi
	mov	$found, %esi
	SYSTEM_CALL NR_ARCH_PRCTL
	mov	found, %rcx
	cmp	%rcx, number
	jne	seen
	rdgsbase %rcx
	cmp	%rcx, number
	jne	lost
	ret
seen:	EXIT	2
lost:	EXIT	3

	.bss
left:	.skip	8
found:	.skip	8
	.balign	4096
pages:	.skip	4096 * (TIMES + 1)

END_CASES

/* What a 64-bit program must not do (faults.inc), and what only 64-bit code can do. */
#include "case64.inc"

.macro FAR_POINTER
	shl	$32, %rax		# the selector is the number
	or	$done, %rax		# which lies below 2 GiB
	push	%rax
.endm

.macro PREPARE_WITH_STACK name
	mov	number, %rsp
	PREPARE_\name
.endm

/* The top five words: rip, cs, rflags, rsp, ss. Flags that rdx names; lost: r10. */
.macro IRET_WITH_FLAGS
	mov	%rsp, %r10
	push	$USER_DATA
	push	%r10
	pushf
	or	%rdx, (%rsp)
	push	$USER_CODE_64
	push	$1f
	iretq
1:
.endm

#include "faults.inc"

/* Where the number says. */
CASE return
	push	%rax
	ret
CASE call
	call	*%rax
	jmp	done

/* Selectors, on the way back. */
CASE lret-selector
	push	%rax
	push	$done
	lretq
CASE iret-selector
	mov	%rsp, %rcx
	push	$USER_DATA
	push	%rcx
	pushf
	push	%rax
	push	$done
	iretq
CASE iret-stack-selector
	mov	%rsp, %rcx
	push	%rax
	push	%rcx
	pushf
	push	$USER_CODE_64
	push	$done
	iretq
CASE iret-address
	mov	%rsp, %rcx
	push	$USER_DATA
	push	%rcx
	pushf
	push	$USER_CODE_64
	push	%rax
	iretq

CASE iret-nested			# a task that does not exist in long mode
	mov	$RFLAGS_NT, %edx
	SET_FLAGS
	xor	%edx, %edx
	IRET_WITH_FLAGS
	jmp	done

/* sysenter says where to go on, and with which stack. */
CASE sysenter-back
	mov	%rax, %r11
	mov	%rsp, %rcx
	mov	$NR_GETPPID, %eax
	sysenter
CASE sysenter-stack
	mov	%rax, %rcx
	mov	$done, %r11d
	mov	$NR_GETPPID, %eax
	sysenter

/* The last instruction that a program can have: behind it is a page that it cannot. The number is the end of programs' addresses. */
#define PAGE		     0x1000
#define MAP_FIXED_ANONYMOUS  0x32 /* private */
#define ENOMEM		     12
#define SYSCALL		     0x050f /* the instruction */
.macro MAP_AT address
	mov	\address, %rdi
	mov	$PAGE, %esi
	mov	$PROTECT_ALL, %edx
	mov	$MAP_FIXED_ANONYMOUS, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYSTEM_CALL NR_MMAP
.endm
CASE last-syscall
	mov	%rax, %rbx
	MAP_AT	%rbx
	cmp	$-ENOMEM, %rax
	jne	wrong
	lea	-PAGE(%rbx), %rbp
	MAP_AT	%rbp
	cmp	%rbp, %rax
	jne	wrong
	sub	$2, %rbx
	movw	$SYSCALL, (%rbx)
	mov	$NR_GETPPID, %eax
	jmp	*%rbx

/* From 32-bit code of a 64-bit program: registers' upper halves are whatever they are. */
.macro FROM_32_BIT_CODE
	movl	$1f, to_32_bit_code
	ljmp	*to_32_bit_code
	.code32
1:	mov	$NR_GETPPID, %eax
.endm
CASE sysenter-from-32-bit-code
	FROM_32_BIT_CODE
	mov	%esp, %ecx
	sysenter
	.code64
CASE syscall-from-32-bit-code
	FROM_32_BIT_CODE
	syscall
	.code64

/* Alignment. */
CASE movaps
	movaps	number + 1, %xmm0
	jmp	done
CASE misaligned-with-ac
	pushf
	orl	$RFLAGS_AC, (%rsp)
	popf
	mov	number + 1, %eax
	pushf
	andl	$~RFLAGS_AC, (%rsp)
	popf
	jmp	done

/* Instructions that are privileged, or might be. */
INSTRUCTION sti,		sti
INSTRUCTION in,		in $0x60, %al
INSTRUCTION write-cr3,	mov %rax, %cr3
INSTRUCTION write-cr4,	mov %rax, %cr4
INSTRUCTION write-cr8,	mov %rax, %cr8
INSTRUCTION write-dr7,	mov %rax, %dr7
INSTRUCTION clts,	clts
INSTRUCTION lmsw,	lmsw %ax
INSTRUCTION rdmsr,	rdmsr
INSTRUCTION wrmsr,	wrmsr
INSTRUCTION lgdt,		lgdt number
INSTRUCTION lidt,		lidt number
INSTRUCTION lldt,		lldt %ax
INSTRUCTION invlpg,	invlpg number
INSTRUCTION wbinvd,	wbinvd
INSTRUCTION swapgs,	swapgs
INSTRUCTION sysretq,	sysretq
INSTRUCTION sysexitq,	sysexitq
INSTRUCTION sysretl,	sysretl
INSTRUCTION sysexitl,	sysexitl
INSTRUCTION xsetbv,	xsetbv
INSTRUCTION stac,		stac
INSTRUCTION clac,		clac
INSTRUCTION sgdt,		sgdt number
INSTRUCTION sidt,		sidt number
INSTRUCTION sldt,		sldt %eax
INSTRUCTION str,		str %eax
INSTRUCTION smsw,		smsw %eax
INSTRUCTION wrfsbase,	wrfsbase %rax
INSTRUCTION sgdt-kernel,	sgdt 0xffffffff80100000
INSTRUCTION smsw-nowhere,	smsw 8

/* Exceptions. */
INSTRUCTION int1,		.byte 0xf1
INSTRUCTION int3,		int3
INSTRUCTION lock-nop,	.byte 0xf0, 0x90
INSTRUCTION ud-foreign,	.byte 0x06	# push %es, which 64-bit code does not have
INSTRUCTION div-foreign,	divq zero	# not the division that serves
CASE div0
	xor	%ecx, %ecx
	div	%ecx
	jmp	done
CASE single-step
	pushf
	orl	$RFLAGS_TF, (%rsp)
	popf
	nop
	jmp	done
CASE x87-exception
	fninit
	fldcw	unmasked_x87
	fld1
	fldz
	fdivrp
	fwait
	jmp	done
CASE x87-exception-pending		# left to the next program
	fninit
	fldcw	unmasked_x87
	fld1
	fldz
	fdivrp
	jmp	done
CASE sse-exception
	ldmxcsr	unmasked_sse
	mov	$1, %eax
	cvtsi2ss %eax, %xmm0
	xorps	%xmm1, %xmm1
	divss	%xmm1, %xmm0
	jmp	done
	.pushsection .rodata
unmasked_x87:
	.word	0x340
unmasked_sse:
	.long	0
zero:	.quad	0
	.popsection

/* Memory. */
CASE write-code
	movb	$0, _start
	jmp	done
CASE write-constant
	movb	$0, zero
	jmp	done
CASE execute-data
	mov	$number, %ecx
	jmp	*%rcx
CASE execute-stack
	push	$0x0b0f
	jmp	*%rsp
CASE execute-anonymous
	mov	$3, %edx		# read, write
	call	map_number
	jmp	*%rax
CASE use-after-unmap
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rbx
	movb	$1, (%rbx)
	mov	%rbx, %rdi
	mov	number, %rsi
	SYSTEM_CALL NR_MUNMAP
	movb	$1, (%rbx)
	jmp	done
CASE use-after-protect
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rbx
	movb	$1, (%rbx)
	mov	%rbx, %rdi
	mov	number, %rsi
	xor	%edx, %edx
	SYSTEM_CALL NR_MPROTECT
	mov	(%rbx), %al
	jmp	done
.macro EXHAUST step			# all memory that there is
	mov	$PROTECT_ALL, %edx
	call	map_number
1:	movb	$1, (%rax)
	add	$\step, %rax
	jmp	1b
.endm
CASE exhaust
	EXHAUST	0x1000
CASE exhaust-tables			# a page of them for each page, or more
	EXHAUST	0x200000
CASE exhaust-reading			# with tables alone
	mov	$PROTECT_ALL, %edx
	call	map_number
1:	mov	(%rax), %cl
	add	$0x200000, %rax
	jmp	1b
CASE exhaust-kernel			# the kernel touches what it writes for the program
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rbx
1:	mov	%rbx, %rdi
	mov	$8, %esi
	xor	%edx, %edx
	SYSTEM_CALL NR_GETRANDOM
	add	$0x200000, %rbx
	cmp	$8, %rax
	je	1b
	cmp	$-14, %rax		# EFAULT
	jne	wrong
	jmp	done

/* Anonymous memory of `number` bytes with the rights in edx; rax its address. */
map_number:
	xor	%edi, %edi
	mov	number, %rsi
	mov	$MAP_ANONYMOUS, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYSTEM_CALL NR_MMAP
	test	%rax, %rax
	js	wrong
	ret

/*
 * More memory than any machine has, all of it asked for at once: reserved, protected, forgotten, given back. Takes no longer
 * than a few pages do.
 */
CASE reserve
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rbx
	mov	number, %rbp
	movb	$1, (%rbx)
	movb	$1, -1(%rbx, %rbp)
	.macro	WHOLE call, argument
	mov	%rbx, %rdi
	mov	%rbp, %rsi
	mov	$\argument, %edx
	SYSTEM_CALL \call
	test	%rax, %rax
	jnz	wrong
	.endm
	WHOLE	NR_MPROTECT, 1
	WHOLE	NR_MPROTECT, 3
	cmpb	$1, (%rbx)
	jne	wrong
	cmpb	$1, -1(%rbx, %rbp)
	jne	wrong
	WHOLE	NR_MADVISE, 4		# MADV_DONTNEED
	cmpb	$0, (%rbx)
	jne	wrong
	movb	$1, (%rbx)
	movb	$1, -1(%rbx, %rbp)
	WHOLE	NR_MUNMAP, 0
	jmp	done
CASE reserve-and-move
	mov	$PROTECT_ALL, %edx
	call	map_number
	movb	$7, (%rax)
	mov	%rax, %rdi
	mov	number, %rsi
	lea	4096(%rsi), %rdx
	mov	$1, %r10d		# MREMAP_MAYMOVE
	SYSTEM_CALL NR_MREMAP
	test	%rax, %rax
	js	wrong
	cmpb	$7, (%rax)
	jne	wrong
	jmp	done
CASE write-everything			# a pipe that nobody reads takes it all
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rbx
	sub	$8, %rsp
	mov	%rsp, %rdi
	xor	%esi, %esi
	SYSTEM_CALL NR_PIPE2
	mov	4(%rsp), %edi
	mov	%rbx, %rsi
	mov	number, %rdx
	SYSTEM_CALL NR_WRITE
	jmp	done
CASE random-everything
	mov	$PROTECT_ALL, %edx
	call	map_number
	mov	%rax, %rdi
	mov	number, %rsi
	xor	%edx, %edx
	SYSTEM_CALL NR_GETRANDOM
	jmp	done

/* Programs without an end. */
CASE spin
	jmp	.
CASE nanosleep-for-ever
	push	$0
	push	%rax			# seconds
	mov	%rsp, %rdi
	xor	%esi, %esi
	SYSTEM_CALL NR_NANOSLEEP
	jmp	done

.irp name, ENTRIES
/* So many calls, long enough to be interrupted at every instruction of both rings; each must answer the same. */
CASE repeat-\name
	mov	%rax, turns
1:	mov	$0x5a5a5a5a, %r12d
	mov	%rsp, %r13
	mov	$NUMBER_\name, %eax
	PREPARE_\name
	ENTER_\name
9:	cmp	$1, %rax		# getppid
	jne	wrong
	cmp	$0x5a5a5a5a, %r12
	jne	wrong
	mov	%r13, %rsp
	decq	turns
	jnz	1b
	jmp	done

/* With something in the upper half of every register. Numbers are 32 bits wide, and i386 arguments, too, whatever is above. */
CASE upper-halves-\name
	movabs	$0x5a5a5a5a00000000, %r14
	CALL_UNAME \name
	or	%r14, %rax
	or	%r14, %rbx
	or	%r14, %rsi
	or	%r14, %rbp
	ENTER_\name
9:	jmp	check_name

/* And then the page tables must be the program's: the number is an address of the kernel's. */
CASE read-after-\name
	mov	$NUMBER_\name, %eax
	PREPARE_\name
	ENTER_\name
9:	mov	number, %rcx
	mov	(%rcx), %cl
	jmp	done
.endr
CASE read-after-page-fault
	movb	$1, untouched
	mov	(%rax), %cl
	jmp	done
	.local	turns
	.comm	turns, 8, 8
CASE read-after-vsyscall
	xor	%edi, %edi
	mov	$0xffffffffff600400, %rax
	call	*%rax
	mov	number, %rcx
	mov	(%rcx), %cl
	jmp	done
CASE read-after-ticks
	mov	$1000000, %ecx
1:	loop	1b
	mov	(%rax), %cl
	jmp	done

/* The kernel takes the stack's segment away while it is in use: the way back from the call that does it cannot load it. */
.irp name, int80, call_gate_i386
CASE stack-segment-gone-\name
	mov	$NR32_SET_THREAD_AREA, %eax
	mov	$segment, %ebx
	ENTER_\name
	test	%eax, %eax
	jnz	wrong
	mov	$FIRST_TLS * 8 + 3, %eax
	mov	%eax, %ss
	mov	$NR32_SET_THREAD_AREA, %eax
	mov	$no_segment, %ebx
	ENTER_\name
	jmp	done
.endr

END_CASES

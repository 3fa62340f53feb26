/*
 * A 64-bit program with a shadow stack: argv[1] names a case, argv[2] is its number. Exit status 0: as it should be.
 *
 * rdssp is a nop where the program has none; its operand then stays 0.
 */
#include "case64.inc"

#define VSYSCALL_TIME	 0xffffffffff600400

/* Whether it has one: status 1 if not. */
CASE has
	xor	%eax, %eax
	rdsspq	%rax
	test	%rax, %rax
	jz	wrong
	jmp	done

/* The pointer is behind each call what it was before, and returns from as deep as the number says go well. */
.macro DEEP name
CASE \name
	mov	number, %rbx
	mov	$8, %r12d
1:	call	deep_\name
	dec	%r12d
	jnz	1b
	jmp	done

deep_\name:
	dec	%rbx
	jnz	2f
	mov	number, %rbx
	rdsspq	%r13
	mov	$YIELD_\name, %eax
	PREPARE_\name
	ENTER_\name
9:	test	%rax, %rax
	jnz	wrong
	rdsspq	%r14
	cmp	%r13, %r14
	jne	wrong
	ret
2:	call	deep_\name
	ret
.endm
.irp name, ENTRIES
DEEP \name
.endr

/* The kernel returns from the function of the fixed page, from as deep as that. */
CASE vsyscall
	mov	number, %rbx
	call	deep_vsyscall
	jmp	done
deep_vsyscall:
	dec	%rbx
	jnz	2f
	xor	%edi, %edi
	mov	$VSYSCALL_TIME, %rax
	call	*%rax
	test	%rax, %rax
	jz	wrong
	ret
2:	call	deep_vsyscall
	ret

/* A return to an address that was written over: #CP, if it has a shadow stack. */
CASE written-over
	call	1f
	jmp	wrong
1:	movq	$done, (%rsp)
	ret

/* It cannot write to its shadow stack, nor have it made writable, nor moved. */
CASE write
	call	1f			# so that the page is there; a call of the next instruction would not count
	nop
1:	rdsspq	%rax
	mov	%rax, (%rax)
	jmp	done
CASE make-writable
	rdsspq	%rdi
	and	$-4096, %rdi
	sub	$4096, %rdi
	mov	$4096, %esi
	mov	$3, %edx
	SYSTEM_CALL NR_MPROTECT
	cmp	$-22, %rax
	jne	wrong
	rdsspq	%rdi
	and	$-4096, %rdi
	sub	$4096, %rdi
	mov	$4096, %esi
	mov	$8192, %edx
	mov	$1, %r10d		# MREMAP_MAYMOVE
	SYSTEM_CALL NR_MREMAP
	test	%rax, %rax
	jns	wrong
	jmp	done

/* It can read it: the return address of a call. */
CASE read
	call	1f
2:	jmp	done
1:	rdsspq	%rax
	cmpq	$2b, (%rax)
	jne	wrong
	ret

END_CASES

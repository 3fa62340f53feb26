/*
 * int msr_read(uint32_t msr, uint64_t *value), int msr_write(uint32_t msr, uint64_t value)
 * Access to a register that this processor may lack, or may not let the kernel change: 0 if the instruction raised #GP, 1 if
 * not. msr_fault (features.c) has such a fault go on at msr_refused; nothing has been pushed then.
 */
	.text
	.globl	msr_read, msr_write, msr_read_at, msr_write_at, msr_refused
msr_read:
	mov	%edi, %ecx
msr_read_at:
	rdmsr
	mov	%eax, (%rsi)
	mov	%edx, 4(%rsi)
	mov	$1, %eax
	ret

msr_write:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
msr_write_at:
	wrmsr
	mov	$1, %eax
	ret

msr_refused:
	xor	%eax, %eax
	ret

	.section .note.GNU-stack, "", @progbits

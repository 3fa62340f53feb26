// gcc -nostdlib -static -no-pie -o hello hello.S
// rdtscp: the counter, and in the same instruction the TSC_AUX register of the CPU that read it.
// Linux keeps node << 12 | cpu there.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGILL		4
#define SA_RESTORER	0x04000000
#define CPU_MASK	0xfff
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// a CPU without it: #UD, which is SIGILL
	mov	$SIGILL, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	rdtscp				// edx:eax counter, ecx TSC_AUX
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, %r12
	mov	%ecx, %r13d
	mov	$text, %esi
	mov	$text_end - text, %edx
	call	write
	mov	%r12, %rax
	call	decimal
	mov	$on_cpu, %esi
	mov	$on_cpu_end - on_cpu, %edx
	call	write
	mov	%r13d, %eax
	and	$CPU_MASK, %eax
	call	decimal
	mov	$newline, %esi
	mov	$1, %edx
	call	write
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

no_insn:
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	call	write
	mov	$SKIPPED, %edi
	jmp	exit

// decimal(rax) to stdout: digits from the last to the first
decimal:
	mov	$newline, %esi
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%rcx
	add	$'0', %dl
	dec	%rsi
	mov	%dl, (%rsi)
	test	%rax, %rax
	jnz	1b
	mov	$newline, %edx
	sub	%esi, %edx
// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.balign	8
action:	.quad	no_insn, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
	.skip	20
newline: .ascii	"\n"
text:	.ascii	"hello through rdtscp: "
text_end:
on_cpu:	.ascii	" on CPU "
on_cpu_end:
closed:	.ascii	"closed: #UD, this CPU has no rdtscp\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

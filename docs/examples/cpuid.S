// gcc -nostdlib -static -no-pie -o hello hello.S
// cpuid: ask leaf 0 for the vendor's name. Under a hypervisor that question always leaves the guest.
#define SYS_write	1
#define SYS_rt_sigaction 13
#define SYS_exit	60
#define SIGSEGV		11
#define SA_RESTORER	0x04000000
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax	// cpuid faulting (ARCH_SET_CPUID): #GP, which is SIGSEGV
	mov	$SIGSEGV, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d		// size of the signal mask
	syscall

	xor	%eax, %eax		// leaf 0: highest leaf in eax, the name in ebx, edx, ecx
	cpuid
	mov	%ebx, vendor(%rip)
	mov	%edx, vendor + 4(%rip)
	mov	%ecx, vendor + 8(%rip)
	mov	$text, %esi
	mov	$text_end - text, %edx
	xor	%ebx, %ebx
exit:	mov	$SYS_write, %eax	// rsi, rdx: what to say; ebx: status to leave with
	mov	$1, %edi
	syscall
	mov	$SYS_exit, %eax
	mov	%ebx, %edi
	syscall

refused:
	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	mov	$SKIPPED, %ebx
	jmp	exit

	.data
	.balign	8
action:	.quad	refused, SA_RESTORER, 0, 0	// handler, flags, restorer (it never returns), mask
text:	.ascii	"hello through cpuid: "
vendor:	.ascii	"............\n"
text_end:
closed:	.ascii	"closed: cpuid faults here (arch_prctl(ARCH_SET_CPUID), or the hypervisor)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

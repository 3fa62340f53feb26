// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// syscall-i386: write(2) by syscall in a 32-bit process, AMD's way. The CPU puts eip into ecx, so
// the second argument travels in ebp; Linux ignores that eip and returns to the landing pad in the
// vDSO (pop %ebp; pop %edx; pop %ecx; ret). Intel has the instruction in 64-bit mode only, and
// Linux of 32 bits leaves it off. The lab has it on a model of AMD's, in long mode and in protected mode:
//	kentry lab --cpu-model EPYC --exec hello
//	kentry lab --lab-kernel i386 --cpu-model EPYC --set events-by=task --exec hello
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SIGILL		4
#define AT_SYSINFO	32
#define SKIPPED		77

	.globl	_start
	.text
_start:	lea	4(%esp), %esi		// esp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsl
	test	%eax, %eax
	jnz	1b
	loop	1b
2:	lodsl				// type, value; type 0 is the end
	mov	%eax, %edx
	lodsl
	cmp	$AT_SYSINFO, %edx
	je	3f
	test	%edx, %edx
	jnz	2b
	mov	$no_pad, %ecx
	mov	$no_pad_end - no_pad, %edx
	jmp	shut

3:	mov	$SYS_rt_sigaction, %eax	// anyone but AMD: #UD, which is SIGILL
	mov	$SIGILL, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi
	int	$0x80

	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$text, %ecx
	mov	$text_end - text, %edx
	push	$back			// for the ret of the landing pad
	push	%ecx			// the three that it pops
	push	%edx
	push	%ebp			// also where the kernel looks for a sixth argument
	mov	%ecx, %ebp		// ecx is about to be overwritten by the CPU
	syscall				// esp stays: the kernel finds it there
back:	xor	%ebx, %ebx
	cmp	$text_end - text, %eax
	setne	%bl
exit:	mov	$SYS_exit, %eax
	int	$0x80

no_insn:
	mov	$other, %ecx
	mov	$other_end - other, %edx
shut:	mov	$SYS_write, %eax	// ecx, edx: the reason
	mov	$1, %ebx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_insn, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through syscall-i386\n"
text_end:
no_pad:	.ascii	"closed: no AT_SYSINFO, so no vDSO landing pad to return to (vdso32=0)\n"
no_pad_end:
other:	.ascii	"closed: #UD, only AMD and Hygon CPUs have syscall in 32-bit code\n"
other_end:
	.section .note.GNU-stack, "", @progbits

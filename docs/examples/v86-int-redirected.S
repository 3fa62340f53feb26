// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// v86-int-redirected: int $0x21 in virtual-8086 mode, which the processor itself leads to the 8086's
// own table (CR4.VME). No kernel is entered; the hello itself has to be written by a system call.
// The way into the mode is the lab's own, int $0x44. For protected mode:
//	kentry lab --lab-kernel i386 --bochs --set smap=off --exec hello
// (QEMU does not lead interrupts to that table.) Elsewhere int $0x44 is #GP: Linux on i386 has vm86(2) for this.
#define SYS_exit	1
#define SYS_write	4
#define SYS_rt_sigaction 174
#define SYS_mmap2	192
#define SIGSEGV		11
#define SKIPPED		77
#define PARAGRAPH	0x1000		// of the first megabyte: the linear address divided by 16
#define STACK		0xfff0
#define VIF		0x80000

	.globl	_start
	.text
_start:	mov	$SYS_rt_sigaction, %eax
	mov	$SIGSEGV, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	mov	$8, %esi		// size of the signal mask
	int	$0x80

	mov	$SYS_mmap2, %eax	// 64 KiB below 1 MiB, which an 8086 reaches
	mov	$(PARAGRAPH * 16), %ebx
	mov	$0x10000, %ecx
	mov	$7, %edx		// to read, write and execute
	mov	$0x32, %esi		// private, fixed, anonymous
	mov	$-1, %edi
	xor	%ebp, %ebp
	int	$0x80
	mov	$1, %ebx
	cmp	$(PARAGRAPH * 16), %eax
	jne	exit

	mov	%eax, %edi		// the 8086's code goes there
	mov	$there, %esi
	mov	$there_end - there, %ecx
	rep movsb

	mov	$SYS_mmap2, %eax	// the table, at address 0: ip and cs of each vector
	xor	%ebx, %ebx
	mov	$0x1000, %ecx
	mov	$0x32, %esi
	mov	$-1, %edi
	int	$0x80
	mov	$1, %ebx
	test	%eax, %eax
	jnz	exit
	movl	$(PARAGRAPH << 16) + (handler - there), 4 * 0x21

	xor	%eax, %eax
	.rept	5
	push	$PARAGRAPH		// gs, fs, ds, es, ss
	.endr
	push	$STACK			// esp
	push	$VIF			// eflags: the kernel sets VM and IF; VIF asks for CR4.VME
	push	$PARAGRAPH		// cs
	push	$0			// eip
	int	$0x44			// comes back behind here, with esp as it is now
	add	$36, %esp
	mov	$1, %ebx
	cmp	$0x21, %eax		// the proof that it went there
	jne	exit

	mov	$SYS_write, %eax
	mov	$text, %ecx
	mov	$text_end - text, %edx
	int	$0x80
	xor	%ebx, %ebx
exit:	mov	$SYS_exit, %eax
	int	$0x80

	.code16
there:	int	$0x21			// pushes flags, cs and ip on this stack
	int	$0x44			// the way out
handler:
	mov	$0x21, %al
	iret
there_end:
	.code32

no_mode:
	mov	$SYS_write, %eax
	mov	$1, %ebx
	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	int	$0x80
	mov	$SKIPPED, %ebx
	jmp	exit

	.section .rodata
	.balign	4
action:	.long	no_mode, 0, 0, 0, 0	// handler, flags, restorer, mask
text:	.ascii	"hello through v86-int-redirected\n"
text_end:
closed:	.ascii	"closed: #GP, there is no way by int $0x44 into virtual-8086 mode with CR4.VME (the lab's kernel for protected mode has it)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

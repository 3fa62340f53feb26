// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// stub-sysenter-i386: mach_print by a C function that loads the number and enters by sysenter. The landing pad of the
// kernel's vDSO pops three registers and returns for it. In the lab: kentry lab --personality mach --exec ./hello
// On Linux these are no calls, and int $0x80 asks first.
#define SYS_exit	1
#define SYS_write	4
#define SKIPPED		77

	.globl	_start
	.text
_start:	mov	$-28, %eax		// mach_task_self
	int	$0x80
	test	%eax, %eax		// where there is no such trap: -ENOSYS
	js	shut
	mov	%eax, %ebx
	push	$text
	call	mach_print
	push	%ebx
	call	task_terminate

mach_print:
	mov	$-30, %eax
	jmp	enter

task_terminate:
	mov	$-69, %eax
	jmp	enter

enter:	push	%ecx
	push	%edx
	push	%ebp
	mov	%esp, %ebp		// sysenter loses esp; the kernel finds the arguments by this
	sysenter

shut:	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	mov	$1, %ebx
	mov	$SYS_write, %eax
	int	$0x80
	mov	$SKIPPED, %ebx
	mov	$SYS_exit, %eax
	int	$0x80

	.section .rodata
text:	.asciz	"hello through stub-sysenter-i386\n"
closed:	.ascii	"closed: a trap of GNU Mach is no call of this kernel's\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// stub-gate-x86_64: mach_print by a stub of GNU Mach's form, a C function that loads the number and enters. In the
// lab: kentry lab --personality mach --exec ./hello
#define SYS_write	1
#define SYS_exit	60
#define SKIPPED		77

	.globl	_start
	.text
_start:	call	mach_task_self
	test	%eax, %eax		// where there is no such trap: -ENOSYS
	js	shut
	mov	%eax, %ebx
	mov	$text, %edi
	call	mach_print
	mov	%ebx, %edi
	call	task_terminate

mach_task_self:
	mov	$-28, %eax
	mov	%rcx, %r10		// the fourth argument, which syscall would overwrite
	syscall
	ret

mach_print:
	mov	$-30, %eax
	mov	%rcx, %r10
	syscall
	ret

task_terminate:
	mov	$-69, %eax
	mov	%rcx, %r10
	syscall
	ret

shut:	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	mov	$1, %edi
	mov	$SYS_write, %eax
	syscall
	mov	$SKIPPED, %edi
	mov	$SYS_exit, %eax
	syscall

	.section .rodata
text:	.asciz	"hello through stub-gate-x86_64\n"
closed:	.ascii	"closed: a trap of GNU Mach is no call of this kernel's\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// mapped-time-perf: the clock that perf events are stamped with, computed from the TSC and the
// conversion that the kernel keeps in the first page of a mapped event.
#define SYS_write	1
#define SYS_mmap	9
#define SYS_exit	60
#define SYS_perf_event_open 298
#define PERF_TYPE_SOFTWARE 1
#define PERF_COUNT_SW_DUMMY 9		// counts nothing, so nobody has to permit it to count
#define ATTR_SIZE	64		// PERF_ATTR_SIZE_VER0: all that is needed here
#define ATTR_NO_KERNEL	0x60		// exclude_kernel, exclude_hv: open at perf_event_paranoid=2
#define PROT_READ	1
#define MAP_SHARED	1
#define SKIPPED		77
#define LOCK		8		// struct perf_event_mmap_page
#define CAPABILITIES	40
#define TIME_SHIFT	50
#define TIME_MULT	52
#define TIME_ZERO	64
#define CAP_USER_TIME_AND_ZERO 0x18

	.globl	_start
	.text
_start:	mov	$SYS_perf_event_open, %eax
	mov	$attr, %edi
	xor	%esi, %esi		// this process, on any CPU, no group, no flags
	mov	$-1, %rdx
	mov	$-1, %r10
	xor	%r8d, %r8d
	syscall
	mov	$denied, %esi
	mov	$denied_end - denied, %edx
	test	%rax, %rax
	js	shut

	mov	%rax, %r8
	mov	$SYS_mmap, %eax
	xor	%edi, %edi
	mov	$4096, %esi
	mov	$PROT_READ, %edx
	mov	$MAP_SHARED, %r10d
	xor	%r9d, %r9d
	syscall
	mov	$denied, %esi
	mov	$denied_end - denied, %edx
	test	%rax, %rax
	js	shut
	mov	%rax, %rbp		// rbp: the page
	mov	CAPABILITIES(%rbp), %eax
	not	%eax
	mov	$no_time, %esi
	mov	$no_time_end - no_time, %edx
	test	$CAP_USER_TIME_AND_ZERO, %eax
	jnz	shut

1:	mov	LOCK(%rbp), %r8d	// a sequence count: the kernel changes it around every update
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	movzwl	TIME_SHIFT(%rbp), %ecx
	mov	TIME_MULT(%rbp), %esi
	mul	%rsi			// 128 bits, so that nothing is lost before the shift
	shrd	%cl, %rdx, %rax
	add	TIME_ZERO(%rbp), %rax	// nanoseconds
	cmp	LOCK(%rbp), %r8d
	jne	1b

	xor	%edx, %edx
	mov	$1000000000, %ecx
	div	%rcx
	mov	$digits, %edi		// make the seconds decimal, from the last digit to the first
	mov	$10, %ecx
2:	xor	%edx, %edx
	div	%rcx
	add	$'0', %dl
	dec	%rdi
	mov	%dl, (%rdi)
	test	%rax, %rax
	jnz	2b
	mov	%rdi, %rbx
	mov	$text, %esi
	mov	$text_end - text, %edx
	call	write
	mov	%rbx, %rsi
	mov	$digits + 1, %edx	// the newline too
	sub	%ebx, %edx
	call	write
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

shut:	call	write			// rsi, rdx: the reason
	mov	$SKIPPED, %edi
	jmp	exit

// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.balign	8
attr:	.long	PERF_TYPE_SOFTWARE, ATTR_SIZE
	.quad	PERF_COUNT_SW_DUMMY, 0, 0, 0, ATTR_NO_KERNEL, 0, 0
	.skip	20
digits:	.ascii	"\n"
text:	.ascii	"hello through mapped-time-perf: "
text_end:
denied:	.ascii	"closed: perf events may not be opened or mapped (perf_event_paranoid, seccomp, ...)\n"
denied_end:
no_time: .ascii	"closed: cap_user_time is 0, the kernel's clock is not the bare TSC\n"
no_time_end:
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// mapped-time-devmem: the wall clock's seconds out of the kernel's own memory, mapped through
// /dev/mem. /proc/iomem tells where the kernel's data begin and its bss ends; the time page is the
// one between them that makes sense and agrees with time(2). Read only, and seldom allowed.
#ifndef DEV_MEM
#define DEV_MEM		"/dev/mem"
#define PROC_IOMEM	"/proc/iomem"
#endif
#define SYS_read	0
#define SYS_write	1
#define SYS_open	2
#define SYS_mmap	9
#define SYS_exit	60
#define SYS_time	201
#define SKIPPED		77
#define ENXIO		6
#define ENOENT		2
#define PROT_READ	1
#define MAP_SHARED	1
#define PAGE		4096
#define BUFFER		65536
#define TRIES		1000000
#define OLD_PLACE	128		// where the structure begins in the page before 6.15; since then 0
#define SEQ		0		// struct vdso_clock (struct vdso_data before 6.15)
#define CLOCK_MODE	4
#define MASK_OLD	16		// behind cycle_last; since 6.10 max_cycles may stand between
#define MASK_NEW	24
#define MULT		8		// from here on counted from mask
#define SHIFT		12
#define REALTIME_SEC	16		// basetime[CLOCK_REALTIME].sec
#define MODE_TSC	1
#define MODE_HVCLOCK	3
#define SAY(what)	mov $what, %esi; mov $what##_end - what, %edx

	.globl	_start
	.text
_start:	mov	$dev_mem, %edi
	call	open
	mov	%rax, %r15		// r15: /dev/mem
	test	%rax, %rax
	jns	1f
	SAY(absent)
	cmp	$-ENOENT, %rax
	je	shut
	cmp	$-ENXIO, %rax
	je	shut
	SAY(refused)
	jmp	shut

1:	mov	$proc_iomem, %edi
	call	open
	SAY(hidden)
	test	%rax, %rax
	js	shut
	mov	%rax, %rbx
	mov	$buffer, %ebp		// ebp: the end of what has been read
2:	mov	$SYS_read, %eax		// /proc gives it in portions
	mov	%ebx, %edi
	mov	%ebp, %esi
	mov	$buffer + BUFFER, %edx
	sub	%ebp, %edx
	syscall
	test	%rax, %rax
	jle	3f
	add	%eax, %ebp
	jmp	2b

3:	mov	$data, %esi		// "  start-end : Kernel data"
	call	line
	call	hex
	and	$-PAGE, %rax
	mov	%rax, %r12		// r12: physical address of the first page
	mov	$bss, %esi
	call	line
	call	hex			// the start, and then the end that is wanted
	inc	%rdi
	call	hex
	sub	%r12, %rax
	mov	%rax, %r13		// r13: length
	SAY(hidden)
	jbe	shut			// all zero: no CAP_SYS_ADMIN

	mov	$SYS_mmap, %eax
	xor	%edi, %edi
	mov	%r13, %rsi
	mov	$PROT_READ, %edx
	mov	$MAP_SHARED, %r10d
	mov	%r15, %r8
	mov	%r12, %r9
	syscall
	SAY(strict)
	cmp	$-PAGE, %rax
	ja	shut
	mov	%rax, %r12		// r12: the page, as mapped
	lea	-PAGE(%rax, %r13), %r13	// r13: no page begins behind this
4:	cmp	%r13, %r12
	ja	5f
	mov	%r12, %rbx
	call	check
	lea	OLD_PLACE(%r12), %rbx
	call	check
	add	$PAGE, %r12
	jmp	4b
5:	SAY(unknown)
	jmp	shut

// check(rbx: the structure?): does not return if it makes sense and has the right time
check:	mov	CLOCK_MODE(%rbx), %eax
	dec	%eax
	cmp	$MODE_HVCLOCK - MODE_TSC, %eax
	ja	9f			// no clock that user space could read
	lea	MASK_OLD(%rbx), %r14
	cmpq	$-1, (%r14)		// all these counters have 64 bits
	je	6f
	lea	MASK_NEW(%rbx), %r14
	cmpq	$-1, (%r14)
	jne	9f
6:	cmpl	$0, MULT(%r14)
	je	9f
	mov	SHIFT(%r14), %eax
	dec	%eax
	cmp	$32, %eax
	jae	9f
	mov	$TRIES, %ecx
7:	dec	%ecx
	jz	9f
	mov	SEQ(%rbx), %edx		// odd: the kernel is writing
	test	$1, %dl
	jnz	7b
	mov	REALTIME_SEC(%r14), %rbp
	cmp	SEQ(%rbx), %edx		// changed: it has been writing meanwhile
	jne	7b
	mov	$SYS_time, %eax
	xor	%edi, %edi
	syscall
	sub	%rbp, %rax
	add	$2, %rax
	cmp	$4, %rax		// within two seconds, either way
	jbe	found
9:	ret

found:	mov	%rbp, %rax
	mov	$digits, %edi		// make it decimal, from the last digit to the first
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%rcx
	add	$'0', %dl
	dec	%rdi
	mov	%dl, (%rdi)
	test	%rax, %rax
	jnz	1b
	mov	%rdi, %rbx
	SAY(text)
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

// rdi = the start of the line in buffer..ebp that ends in the text at rsi (8 bytes, which tell)
line:	mov	(%rsi), %rax
	mov	$buffer, %edi
	mov	%edi, %ecx		// ecx: the start of this line
1:	cmp	%rax, (%rdi)
	je	2f
	inc	%rdi
	cmpb	$'\n', -1(%rdi)
	cmove	%edi, %ecx
	cmp	%ebp, %edi
	jb	1b
	SAY(hidden)
	jmp	shut
2:	mov	%ecx, %edi
3:	cmpb	$' ', (%rdi)
	jne	4f
	inc	%rdi
	jmp	3b
4:	ret

// rax = the hexadecimal number at rdi, which is left behind its last digit
hex:	xor	%eax, %eax
1:	movzbl	(%rdi), %ecx
	sub	$'0', %ecx
	cmp	$9, %ecx
	jbe	2f
	sub	$'a' - '0', %ecx
	cmp	$5, %ecx
	ja	3f
	add	$10, %ecx
2:	shl	$4, %rax
	add	%rcx, %rax
	inc	%rdi
	jmp	1b
3:	ret

// rax = open(rdi, O_RDONLY)
open:	mov	$SYS_open, %eax
	xor	%esi, %esi
	syscall
	ret

// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.skip	20
digits:	.ascii	"\n"
text:	.ascii	"hello through mapped-time-devmem: "
text_end:
dev_mem: .asciz	DEV_MEM
proc_iomem: .asciz PROC_IOMEM
data:	.ascii	"nel data"		// of "Kernel data"
bss:	.ascii	"rnel bss"
absent:	.ascii	"closed: there is no /dev/mem (kernel built without CONFIG_DEVMEM, or a container)\n"
absent_end:
refused: .ascii	"closed: /dev/mem may not be opened (root with CAP_SYS_RAWIO only, no lockdown)\n"
refused_end:
hidden:	.ascii	"closed: /proc/iomem does not show where the kernel's data are\n"
hidden_end:
strict:	.ascii	"closed: /dev/mem refuses the kernel's data (CONFIG_STRICT_DEVMEM)\n"
strict_end:
unknown: .ascii	"closed: no page of the kernel's data holds a clock that is known and agrees with time(2)\n"
unknown_end:
	.lcomm	buffer, BUFFER + 8	// a comparison at the end may look 8 bytes further
	.section .note.GNU-stack, "", @progbits

// gcc -nostdlib -static -no-pie -o hello hello.S
// entry-page-x86_64: mach_print through the page that the device `entry` maps, a shared object with one function,
// entry_call. The device is opened and asked for its page by messages to the kernel. In the lab: kentry lab --personality mach --exec ./hello
#define TRAP_mach_msg		-25
#define TRAP_mach_reply_port	-26
#define TRAP_mach_task_self	-28
#define TRAP_mach_print		-30
#define TRAP_vm_map		-64
#define TRAP_task_terminate	-69
#define DEVICE_MASTER		2	// the name that the lab gives the first task
#define SEND_AND_RECEIVE	3
#define ID_device_open		2800
#define ID_device_map		2809
#define BITS			19 | 21 << 8	// the request's port: copy send; the answer's: make send once
#define INTEGER_32		0x120002002	// how an item is described: type, bits, flags, number
#define INTEGER_64		0x12000400b
#define STRING_128		0x16004000c
#define ROOM			256
#define PAGE			4096
#define READ_EXECUTE		5
#define PT_DYNAMIC		2
#define DT_STRTAB		5
#define DT_SYMTAB		6
#define SYS_write		1
#define SYS_exit		60
#define SKIPPED			77

	.globl	_start
	.text
_start:	mov	$TRAP_mach_task_self, %eax
	call	trap
	test	%eax, %eax		// where there is no such trap: -ENOSYS
	js	shut
	mov	%eax, self
	mov	$TRAP_mach_reply_port, %eax
	call	trap
	mov	%eax, reply

	mov	$DEVICE_MASTER, %edi
	mov	$ID_device_open, %esi
	mov	$open_end - open, %edx
	mov	$open, %ebx
	call	ask
	mov	%eax, %edi		// the device
	mov	$ID_device_map, %esi
	mov	$map_end - map, %edx
	mov	$map, %ebx
	call	ask

	push	$1			// inheritance: copy
	push	$READ_EXECUTE		// the most that may be
	push	$READ_EXECUTE
	push	$0			// shared, no copy
	push	$0			// offset
	mov	%eax, %r9d		// what is mapped
	mov	self, %edi
	mov	$page, %esi
	mov	$PAGE, %edx
	xor	%r10d, %r10d		// mask
	mov	$1, %r8d		// anywhere
	mov	$TRAP_vm_map, %eax
	call	trap
	add	$40, %rsp
	test	%eax, %eax
	jnz	shut

	mov	page, %rsi		// the page is an ELF file
	mov	32(%rsi), %rbx		// its program headers
	add	%rsi, %rbx
1:	cmpl	$PT_DYNAMIC, (%rbx)
	je	2f
	add	$56, %rbx
	jmp	1b
2:	mov	16(%rbx), %rbx
	add	%rsi, %rbx
3:	mov	8(%rbx), %rdx		// addresses count from the file's beginning
	add	%rsi, %rdx
	cmpq	$DT_STRTAB, (%rbx)
	cmove	%rdx, %r12
	cmpq	$DT_SYMTAB, (%rbx)
	cmove	%rdx, %r13
	add	$16, %rbx
	cmpq	$0, -16(%rbx)
	jne	3b
4:	add	$24, %r13		// the next symbol
	mov	(%r13), %esi
	add	%r12, %rsi
	mov	$name, %edi
	mov	$name_end - name, %ecx
	repe cmpsb
	jne	4b
	mov	8(%r13), %rbx
	add	page, %rbx		// entry_call

	mov	$text, %edi
	mov	$TRAP_mach_print, %eax
	call	*%rbx			// a stub would jump there
	mov	self, %edi
	mov	$TRAP_task_terminate, %eax
	call	trap

// The first six arguments are in rdi, rsi, rdx, r10, r8, r9; the others behind the return address.
trap:	syscall
	ret

// ask(edi: port, esi: id, edx: bytes, rbx: the message, behind its header complete): eax, what is named
ask:	lea	message, %r11
	movl	$BITS, (%r11)
	mov	%rdi, 8(%r11)
	mov	reply, %eax
	mov	%rax, 16(%r11)
	mov	%esi, 28(%r11)
	lea	32(%r11), %rdi		// what stands behind the header
	mov	%rbx, %rsi
	mov	%edx, %ecx
	rep movsb
	mov	$message, %edi
	mov	$SEND_AND_RECEIVE, %esi
	add	$32, %edx		// so much is sent, ...
	mov	$ROOM, %r10d		// ... and so much can be received, ...
	mov	reply, %r8d		// ... from there
	xor	%r9d, %r9d		// no timeout
	push	$0			// nobody to notify
	mov	$TRAP_mach_msg, %eax
	call	trap
	add	$8, %rsp
	test	%eax, %eax
	jnz	shut
	cmpl	$0, message + 40	// the answer's code
	jnz	shut
	mov	message + 56, %eax
	ret

shut:	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	mov	$1, %edi
	mov	$SYS_write, %eax
	syscall
	mov	$SKIPPED, %edi
	mov	$SYS_exit, %eax
	syscall

	.data
	.balign	8
open:	.quad	INTEGER_32, 0		// mode
	.quad	STRING_128
	.ascii	"entry"
	.skip	123
open_end:
map:	.quad	INTEGER_32, READ_EXECUTE
	.quad	INTEGER_64, 0		// offset
	.quad	INTEGER_64, PAGE
	.quad	INTEGER_32, 0		// may be cached
map_end:
page:	.quad	0
self:	.long	0
reply:	.long	0
message:
	.skip	ROOM
name:	.asciz	"entry_call"
name_end:
text:	.asciz	"hello through entry-page-x86_64\n"
closed:	.ascii	"closed: a trap of GNU Mach is no call of this kernel's\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

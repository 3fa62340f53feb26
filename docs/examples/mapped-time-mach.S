// gcc -nostdlib -static -no-pie -o hello hello.S
// mapped-time-mach: the seconds in the page that GNU Mach's device `time` maps. The device is opened and
// asked for its page by messages to the kernel. In the lab: kentry lab --personality mach --exec ./hello
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
#define READ			1
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
	push	$READ			// the most that may be
	push	$READ
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

	mov	page, %rsi
1:	mov	(%rsi), %eax		// seconds; the kernel writes them last
	mov	4(%rsi), %edx		// microseconds
	cmp	8(%rsi), %eax		// seconds again, which it writes first
	jne	1b
	mov	$digits, %edi		// make it decimal, from the last digit to the first
	mov	$10, %ecx
2:	xor	%edx, %edx
	div	%ecx
	add	$'0', %dl
	dec	%edi
	mov	%dl, (%rdi)
	test	%eax, %eax
	jnz	2b
	mov	%edi, %ebx
	mov	$text, %edi
	call	print
	mov	%ebx, %edi
	call	print
	mov	self, %edi
	mov	$TRAP_task_terminate, %eax
	call	trap

print:	mov	$TRAP_mach_print, %eax
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
	.ascii	"time"
	.skip	124
open_end:
map:	.quad	INTEGER_32, READ
	.quad	INTEGER_64, 0		// offset
	.quad	INTEGER_64, PAGE
	.quad	INTEGER_32, 0		// may be cached
map_end:
page:	.quad	0
self:	.long	0
reply:	.long	0
message:
	.skip	ROOM
	.skip	20
digits:	.asciz	"\n"
text:	.asciz	"hello through mapped-time-mach: "
closed:	.ascii	"closed: a trap of GNU Mach is no call of this kernel's\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// entry-page-i386: mach_print through the page that the device `entry` maps, a shared object with one function,
// entry_call. The device is opened and asked for its page by messages to the kernel. In the lab: kentry lab --personality mach --exec ./hello
// GNU Mach's own programs enter by lcall $7, $0, which on Linux would end this one before it can say why.
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
#define INTEGER_32		0x10012002	// how an item is described: type, bits, number, flags
#define ROOM			256
#define PAGE			4096
#define READ_EXECUTE		5
#define PT_DYNAMIC		2
#define DT_STRTAB		5
#define DT_SYMTAB		6
#define SYS_exit		1
#define SYS_write		4
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
	mov	$ID_device_open, %eax
	mov	$open_end - open, %ecx
	mov	$open, %esi
	call	ask
	mov	%eax, %edi		// the device
	mov	$ID_device_map, %eax
	mov	$map_end - map, %ecx
	mov	$map, %esi
	call	ask

	push	$1			// inheritance: copy
	push	$READ_EXECUTE		// the most that may be
	push	$READ_EXECUTE
	push	$0			// shared, no copy
	push	$0			// offset
	push	%eax			// what is mapped
	push	$1			// anywhere
	push	$0			// mask
	push	$PAGE
	push	$page
	push	self
	mov	$TRAP_vm_map, %eax
	call	trap
	add	$44, %esp
	test	%eax, %eax
	jnz	shut

	mov	page, %esi		// the page is an ELF file
	mov	28(%esi), %ebx		// its program headers
	add	%esi, %ebx
1:	cmpl	$PT_DYNAMIC, (%ebx)
	je	2f
	add	$32, %ebx
	jmp	1b
2:	mov	8(%ebx), %ebx
	add	%esi, %ebx
3:	mov	4(%ebx), %edx		// addresses count from the file's beginning
	add	%esi, %edx
	cmpl	$DT_STRTAB, (%ebx)
	cmove	%edx, %ebp
	cmpl	$DT_SYMTAB, (%ebx)
	cmove	%edx, %eax
	add	$8, %ebx
	cmpl	$0, -8(%ebx)
	jne	3b
4:	add	$16, %eax		// the next symbol
	mov	(%eax), %esi
	add	%ebp, %esi
	mov	$name, %edi
	mov	$name_end - name, %ecx
	repe cmpsb
	jne	4b
	mov	4(%eax), %ebx
	add	page, %ebx		// entry_call

	push	$text
	mov	$TRAP_mach_print, %eax
	call	*%ebx			// a stub would jump there
	add	$4, %esp
	push	self
	mov	$TRAP_task_terminate, %eax
	call	trap

// All arguments are on the stack, behind the return address.
trap:	int	$0x80
	ret

// ask(edi: port, eax: id, ecx: bytes, esi: the message, behind its header complete): eax, what is named
ask:	movl	$BITS, message
	mov	%edi, message + 8
	mov	%eax, message + 20
	mov	reply, %eax
	mov	%eax, message + 12
	mov	%ecx, %edx
	mov	$message + 24, %edi	// what stands behind the header
	rep movsb
	add	$24, %edx
	push	$0			// nobody to notify
	push	$0			// no timeout
	push	reply			// from there is received, ...
	push	$ROOM			// ... so much at most; ...
	push	%edx			// ... so much is sent
	push	$SEND_AND_RECEIVE
	push	$message
	mov	$TRAP_mach_msg, %eax
	call	trap
	add	$28, %esp
	test	%eax, %eax
	jnz	shut
	cmpl	$0, message + 28	// the answer's code
	jnz	shut
	mov	message + 36, %eax
	ret

shut:	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	mov	$1, %ebx
	mov	$SYS_write, %eax
	int	$0x80
	mov	$SKIPPED, %ebx
	mov	$SYS_exit, %eax
	int	$0x80

	.data
	.balign	4
open:	.long	INTEGER_32, 0		// mode
	.long	0x30000000, 0x0400000c, 1	// a string of 128 bytes: too many bits for the short description
	.ascii	"entry"
	.skip	123
open_end:
map:	.long	INTEGER_32, READ_EXECUTE
	.long	INTEGER_32, 0		// offset
	.long	INTEGER_32, PAGE
	.long	INTEGER_32, 0		// may be cached
map_end:
page:	.long	0
self:	.long	0
reply:	.long	0
message:
	.skip	ROOM
name:	.asciz	"entry_call"
name_end:
text:	.asciz	"hello through entry-page-i386\n"
closed:	.ascii	"closed: a trap of GNU Mach is no call of this kernel's\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

/*
 * The first sector of a disk for an emulator that cannot load a kernel itself (Bochs): by the services of its BIOS it loads the parts of
 * the kernel and the archive, and enters as QEMU's -kernel does. Where all of that is, the next sector says, which
 * crates/places/src/lab/disk.rs writes. A BIOS hands over in real mode at 0:0x7c00, with the drive in dl.
 *
 * Xen's docs/misc/pvh.pandoc and start_info.h. Services: INT 13h 42h (Enhanced Disk Drive Specification 1.1), INT 15h 87h (copies in
 * extended memory), E820h (ACPI Specification 6.5, 15.1).
 */
#include "lab.h"

#define ORIGIN	       0x7c00
#define START	       0x7e00 /* struct hvm_start_info, which ... */
#define MEMORY_ENTRIES (START + 48)
#define RSDP	       (START + 32)
#define ENTRY	       (START + 56) /* ... these follow: the kernel's entry, */
#define COUNT	       (START + 60) /* the number of parts, */
#define PARTS	       (START + 96) /* and, behind the list of modules, the parts. */
#define PART_SECTOR    0
#define PART_SECTORS   4
#define PART_ADDRESS   8
#define PART_ZEROES    12 /* words of four bytes, behind what the disk has */
#define PART_BYTES     16

#define MEMORY	       0x8000 /* struct hvm_memmap_table_entry */
#define MEMORY_BYTES   24
#define MEMORY_LAST    0x9000
#define BUFFER	       0x10000
#define BUFFER_SECTORS 64
#define SECTOR_SHIFT   9

#define ROOM_FOR_ENTRY 20
#define SMAP	       0x534d4150
#define ACPI_SEGMENT   0xe000
#define RSD_	       0x20445352 /* "RSD " */
#define PTR_	       0x20525450 /* "PTR " */
#define GATE_A20_PORT  0x92
#define GATE_A20_BIT   2
#define ACCESS	       0x93 /* of a data segment: present, DPL 0, writable */
#define CR0_PE	       1
#define CODE	       8
#define DATA	       16

	.text
	.code16
	.globl	_start
_start:
	ljmp	$0, $1f			# some firmware enters at 0x7c0:0
1:	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$ORIGIN, %sp
	cld
	mov	%dl, drive
	in	$GATE_A20_PORT, %al
	or	$GATE_A20_BIT, %al
	out	%al, $GATE_A20_PORT

	movb	$1, packet_sectors	# the next sector, which says the rest
	movl	$1, packet_sector
	movl	$START, packet_buffer	# segment 0
	call	read

	mov	$MEMORY, %di		# what memory there is
	xor	%ebx, %ebx
2:	mov	$0xe820, %eax		# ebx is the service's own
	mov	$SMAP, %edx
	mov	$ROOM_FOR_ENTRY, %ecx
	int	$0x15
	jc	3f
	cmp	$SMAP, %eax
	jne	3f
	movl	$0, ROOM_FOR_ENTRY(%di)
	add	$MEMORY_BYTES, %di
	incl	MEMORY_ENTRIES
	cmp	$MEMORY_LAST - MEMORY_BYTES, %di
	ja	3f
	test	%ebx, %ebx
	jnz	2b

3:	mov	$ACPI_SEGMENT, %ax	# the root pointer, on a boundary of 16 bytes
4:	mov	%ax, %es
	cmpl	$RSD_, %es:0
	jne	5f
	cmpl	$PTR_, %es:4
	jne	5f
	movzwl	%ax, %eax
	shl	$4, %eax
	mov	%eax, RSDP
	jmp	6f
5:	inc	%ax
	jnz	4b

6:	mov	$PARTS, %si		# services change upper halves of registers: what counts is in memory
	movl	$BUFFER << 12, packet_buffer
7:	mov	PART_SECTOR(%si), %eax
	mov	%eax, packet_sector
8:	mov	$BUFFER_SECTORS, %eax
	cmp	%eax, PART_SECTORS(%si)
	ja	9f
	mov	PART_SECTORS(%si), %eax
9:	mov	%al, packet_sectors
	call	read
	mov	PART_ADDRESS(%si), %eax
	mov	%eax, to_base		# 24 bits of the base, the last eight apart, ...
	movb	$ACCESS, to_access	# ... and this in between
	shr	$24, %eax
	mov	%al, to_base_24
	movzbl	packet_sectors, %ecx
	add	%ecx, packet_sector
	sub	%ecx, PART_SECTORS(%si)
	shl	$SECTOR_SHIFT, %ecx
	add	%ecx, PART_ADDRESS(%si)	# in the end, from where there are zeroes
	shr	$1, %cx			# words
	push	%si
	mov	$copy_table, %si
	push	%ds
	pop	%es
	mov	$0x87, %ah
	int	$0x15
	pop	%si
	jc	fail
	cmpl	$0, PART_SECTORS(%si)
	jne	8b
	add	$PART_BYTES, %si
	decl	COUNT
	jnz	7b

	cli
	lgdt	table_pointer
	mov	%cr0, %eax
	or	$CR0_PE, %al
	mov	%eax, %cr0
	ljmp	$CODE, $protected

/* Reads what the packet says. Where a service fails there is nothing left to do but to end Bochs, by its shutdown port. */
read:	push	%si
	mov	drive, %dl
	mov	$packet, %si
	mov	$0x42, %ah
	int	$0x13
	pop	%si
	jc	fail
	ret
fail:	mov	$shutdown, %si
	mov	$BOCHS_EXIT_LETTERS, %cx
	mov	$BOCHS_EXIT_PORT, %dx
	rep outsb
1:	hlt
	jmp	1b

	.code32
protected:
	mov	$DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	movzwl	%si, %esi		# behind the last part
	xor	%eax, %eax
1:	sub	$PART_BYTES, %esi
	mov	PART_ADDRESS(%esi), %edi
	mov	PART_ZEROES(%esi), %ecx
	rep stosl
	cmp	$PARTS, %esi
	ja	1b
	mov	$START, %ebx
	jmp	*ENTRY

	.balign 4
packet:	.byte	16, 0
packet_sectors:
	.byte	0, 0
packet_buffer:
	.long	0
packet_sector:
	.quad	0

copy_table:				# INT 15h 87h: two for the service, from, to, two for the service
	.quad	0, 0
	.word	0xffff, BUFFER & 0xffff
	.byte	BUFFER >> 16, ACCESS, 0, 0
	.word	0xffff
to_base:
	.byte	0, 0, 0
to_access:
	.byte	ACCESS, 0
to_base_24:
	.byte	0
	.quad	0, 0

	.balign 8
table:	.quad	0
	.quad	0x00cf9b000000ffff	# code
	.quad	0x00cf93000000ffff	# data
table_pointer:
	.word	. - table - 1
	.long	table

drive:	.byte	0
shutdown:
	.ascii	"Shutdown"

	.org	510
	.word	0xaa55
	.section .note.GNU-stack, "", @progbits

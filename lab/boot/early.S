/*
 * What goes wrong before there is 64-bit code is said here, on the serial port, as a record of a log line (abi/record.h): a
 * processor without 64-bit mode, and exceptions. 32-bit code, paging off, segments flat.
 */
#include "boot/early.inc"
#include "cpu/registers.h"
#include "lab.h"

#define WITH_ERROR_CODE 0x60227d00 /* as entry/exception.S */
#define STUB_SIZE	16
#define GATE_32		0x8e00 /* interrupt gate, present, DPL 0 */
#define BOOT_BASE	0x100000 /* kernel.lds: what lies in .boot is less than 64 KiB behind it; early_stubs_0 is the rest */

#define HEADER	 24
#define LENGTH	 16
#define CHECKSUM 20
#define CRC32	 0xedb88320

#define TEXT_SCREEN 0xb8000
#define TEXT_GREY   7

#define UART	     0x3f8
#define UART_STATUS  (UART + 5)
#define STATUS_EMPTY 0x20
#define STATUS_IDLE  0x40

	.section .boot, "ax"
	.code32
	.globl	early_idt_pointer, early_no_64_bit_mode, early_loader, early_say, early_stubs

	.balign	STUB_SIZE
early_stubs:
	.set	vector, 0
	.rept	32
	.balign	STUB_SIZE
	.if	!((WITH_ERROR_CODE >> vector) & 1)
	push	$0
	.endif
	push	$vector
	jmp	report
	.set	vector, vector + 1
	.endr

/* On the stack: vector, error code, eip. */
report:
	mov	$vector_digits, %edi
	pop	%eax
	call	put_byte
	mov	$error_digits, %edi
	pop	%eax
	call	put_long
	mov	$at_digits, %edi
	pop	%eax
	call	put_long
	mov	$exception_record, %ebx
	jmp	early_say

early_no_64_bit_mode:
	mov	$mode_record, %ebx

early_say:
	mov	LENGTH(%ebx), %ecx
	add	$HEADER, %ecx
	push	%ecx
	mov	%ebx, %esi
	or	$-1, %eax
1:	movzbl	(%esi), %edx
	inc	%esi
	xor	%edx, %eax
	mov	$8, %edx
2:	shr	%eax
	jnc	3f
	xor	$CRC32, %eax
3:	dec	%edx
	jnz	2b
	loop	1b
	not	%eax
	mov	%eax, CHECKSUM(%ebx)

	mov	$uart_setup, %esi
	mov	$UART_SETUP, %ecx
1:	xor	%eax, %eax
	lodsb
	lea	UART(%eax), %edx
	outsb
	loop	1b
	pop	%ecx
	mov	%ebx, %esi
1:	mov	$UART_STATUS, %edx
2:	in	%dx, %al
	test	$STATUS_EMPTY, %al
	jz	2b
	mov	$UART, %edx
	outsb
	loop	1b
	mov	$UART_STATUS, %edx
3:	in	%dx, %al
	test	$STATUS_IDLE, %al
	jz	3b
	/* As serial/log.c: an emulator ends; a real machine, which GRUB has started, stops, and its text screen shows why. */
	cmpl	$LOADER_PVH, early_loader
	jne	5f
	mov	$LAB_EXIT_VALUE, %al
	out	%al, $LAB_EXIT_PORT
	mov	$bochs_letters, %esi
	mov	$BOCHS_EXIT_LETTERS, %ecx
	mov	$BOCHS_EXIT_PORT, %edx
	rep outsb
5:	mov	LENGTH(%ebx), %ecx
	lea	HEADER(%ebx), %esi
	mov	$TEXT_SCREEN, %edi	# a VGA's, or nobody's
	mov	$TEXT_GREY, %ah
6:	lodsb
	stosw
	loop	6b
4:	cli
	hlt
	jmp	4b

/* eax or its lowest byte in hexadecimal digits, to edi. */
put_byte:
	mov	$2, %ecx
	shl	$24, %eax
	jmp	1f
put_long:
	mov	$8, %ecx
1:	rol	$4, %eax
	mov	%eax, %edx
	and	$0xf, %edx
	mov	digits(%edx), %dl
	mov	%dl, (%edi)
	inc	%edi
	loop	1b
	ret

digits:	.ascii	"0123456789abcdef"

/* Registers and values, as serial/uart.c: 115200 baud, 8 bits, no parity; FIFOs empty. */
uart_setup:
	.byte	1, 0, 3, 0x80, 0, 1, 1, 0, 3, 3, 2, 7, 4, 3
	.set	UART_SETUP, (. - uart_setup) / 2

bochs_letters:
	.ascii	"Shutdown"

	.balign	8
early_loader:
	.long	0			# LOADER_*
mode_record:
	LOG_RECORD mode_end-mode_text
mode_text:
	.ascii	"panic: this processor has no 64-bit mode"
mode_end:
	.balign	8
exception_record:
	LOG_RECORD text_end-text
text:	.ascii	"panic: an exception before 64-bit mode: vector "
vector_digits:
	.ascii	"00, error code "
error_digits:
	.ascii	"00000000, at "
at_digits:
	.ascii	"00000000"
text_end:

	.balign	8
idt:
	.set	vector, 0
	.rept	32
	.word	early_stubs_0 + vector * STUB_SIZE, SELECTOR_BOOT_CODE
	.word	GATE_32, BOOT_BASE >> 16
	.set	vector, vector + 1
	.endr
early_idt_pointer:
	.word	. - idt - 1
	.long	idt

	.section .note.GNU-stack, "", @progbits

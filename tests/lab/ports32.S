/*
 * Ports and the flags of IOPL, for tests/lab/protected/ports.rs, in a kernel in which one system call is another: POKE exchanges a word of its
 * memory. So each case makes the bitmap of ports as it wants it. TSS is where the kernel has its own, by the command line; its limit ends behind
 * two bytes of the bitmap.
 */
#include "case32.inc"

#define IO_MAP	   100	/* in the upper half of this word, where the bitmap begins */
#define BITMAP	   160	/* where the kernel has it; the first case looks */
#define NO_BITMAP  0xffff /* beyond the limit */

.macro POKE_WORD where, what
	mov	$\where, %ebx
	mov	$\what, %ecx
	SYSTEM_CALL POKE
.endm

.macro BITMAP_IS first, second, map=BITMAP
	POKE_WORD TSS+BITMAP, \first|\second<<8
	POKE_WORD TSS+IO_MAP, \map<<16
.endm

/* What the kernel has, before any other case has written there. */
CASE kernels-own
	POKE_WORD TSS+IO_MAP, BITMAP<<16
	cmp	$BITMAP<<16, %eax
	jne	wrong
	POKE_WORD TSS+BITMAP, 0xffff
	cmp	$0xffff, %ax
	jne	wrong
	jmp	done

CASE open
	BITMAP_IS 0xfd, 0xff
	in	$1, %al
	jmp	done
CASE four-open
	BITMAP_IS 0xf0, 0xff
	in	$0, %eax
	jmp	done
CASE open-across-bytes
	BITMAP_IS 0x7f, 0xfe
	in	$7, %ax
	jmp	done

CASE bit-is-1
	BITMAP_IS 0xfd, 0xff
	in	$0, %al
	jmp	done
CASE across-a-bit
	BITMAP_IS 0xf0, 0xff
	in	$1, %eax
	jmp	done
CASE across-a-bit-of-the-next-byte
	BITMAP_IS 0x3f, 0xfe
	in	$6, %eax
	jmp	done
CASE no-ones-behind
	BITMAP_IS 0, 0
	in	$8, %al
	jmp	done
CASE beyond-the-limit
	BITMAP_IS 0, 0
	in	$16, %al
	jmp	done
CASE no-bitmap
	BITMAP_IS 0, 0, NO_BITMAP
	in	$1, %al
	jmp	done
CASE output
	BITMAP_IS 0xfd, 0xff
	out	%al, $2
	jmp	done

/* As the kernel has it. */
CASE closed
	BITMAP_IS 0xff, 0xff
	in	$1, %al
	jmp	done

CASE cli
	cli
	jmp	done
CASE sti
	sti
	jmp	done
/* It does not fault, and changes nothing. */
CASE popf
	push	$0
	popf
	pushf
	pop	%eax
	test	$RFLAGS_IF, %eax
	jz	wrong
	jmp	done

END_CASES

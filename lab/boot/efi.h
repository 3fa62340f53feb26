/* Firmware whose boot services remain (UEFI Specification 2.10, 7), and what the kernel uses of them. */
#pragma once

/* struct efi_cpu, as far as efi.S looks at it; all but the last two in words of 8 bytes. */
#define EFI_RSP	   0
#define EFI_CR0	   8
#define EFI_CR4	   16
#define EFI_CS	   24
#define EFI_SS	   32
#define EFI_RFLAGS 40
#define EFI_GDT	   80 /* limit and base: 10 bytes */
#define EFI_IDT	   96

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Whether the kernel was started by UEFI. */
int efi_is_there(void);
/* Puts the processor back into the firmware's state, and calls `then` there. Programs cannot run any more. */
_Noreturn void efi_return(void (*then)(void));

#define EFI_NAME_LENGTH 12
/*
 * After efi_return: makes a file beside the boot loader, with a name that is not taken yet. Returns null and the name, or
 * what went wrong.
 */
const char *efi_write_file(const char *text, uint64_t bytes, char name[EFI_NAME_LENGTH + 1]);
#endif

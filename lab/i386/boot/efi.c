/*
 * UEFI starts what is as wide as it is itself; a boot loader of its starts this kernel as one of a BIOS does, and has ended the boot services
 * then (GRUB, for a kernel of multiboot2 without an entry for 64 bits). There is no way back to them: no file, but screen and serial line.
 */
#include "boot/efi.h"

int efi_is_there(void)
{
	return 0;
}

_Noreturn void efi_return(void (*then)(void))
{
	then();
	for (;;)
		__asm__ volatile("cli; hlt");
}

const char *efi_write_file(const char *text, uint64_t bytes, char name[EFI_NAME_LENGTH + 1])
{
	(void)text;
	(void)bytes;
	(void)name;
	return "this kernel was not started by UEFI";
}

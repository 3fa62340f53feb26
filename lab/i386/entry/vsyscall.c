/* The fixed page of vsyscalls is 64-bit programs' alone. */
#include "entry/entry.h"
#include "mm/mm.h"
#include "vdso/vsyscall.h"

uint8_t vsyscall_original_page[PAGE] __attribute__((aligned(4096)));

void vsyscall_init(void)
{
}

void vsyscall_configure(unsigned value)
{
	(void)value;
}

int vsyscall_fault(struct frame *frame, word address)
{
	(void)frame;
	(void)address;
	return 0;
}

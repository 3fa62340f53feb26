/* Writes the log of lab/mm/tlb.h to the parallel port. Each event is a letter and two numbers. logged.rs compiles it into a kernel. */
#include "cpu/cpu.h"
#include "mm/tlb.h"

#define PRINTER_DATA	0x378
#define PRINTER_CONTROL 0x37a
#define CONTROL_IDLE	0x0c /* initialized, selected */
#define CONTROL_STROBE	0x01

/* tlb_log.S: what paths have done since the last event. A value of CR3 is never 0. */
extern volatile uint64_t user_cr3_flushed, user_cr3_written, kernel_cr3_written, program_ran;

static void write_byte(uint8_t byte)
{
	out8(PRINTER_DATA, byte);
	out8(PRINTER_CONTROL, CONTROL_IDLE | CONTROL_STROBE);
	out8(PRINTER_CONTROL, CONTROL_IDLE);
}

/* Seven bits at a time, from below; before that, bit 63 becomes the lowest, because small numbers are often set with it. */
static void write_number(uint64_t number)
{
	for (number = number << 1 | number >> 63; number >= 0x80; number >>= 7)
		write_byte((uint8_t)(number | 0x80));
	write_byte((uint8_t)number);
}

static void write(char what, uint64_t first, uint64_t second)
{
	write_byte((uint8_t)what);
	write_number(first);
	write_number(second);
}

/*
 * Programs may have run and entered many times since. But all paths write the same two values until C code changes these, which
 * notes that, as it notes each change of page tables. So one time tells of all. With pcid=lazy the first way out flushes.
 */
static void write_what_paths_did(void)
{
	if (user_cr3_flushed)
		write(TLB_CR3, user_cr3_flushed, 0);
	if (user_cr3_written)
		write(TLB_CR3, user_cr3_written, 0);
	if (program_ran)
		write(TLB_RUN, 0, 0);
	if (kernel_cr3_written)
		write(TLB_CR3, kernel_cr3_written, 0);
	user_cr3_flushed = user_cr3_written = program_ran = kernel_cr3_written = 0;
}

void tlb_note(char what, uint64_t first, uint64_t second)
{
	/* The tick must not come between. */
	const uint64_t flags = interrupts_off();

	write_what_paths_did();
	write(what, first, second);
	interrupts_restore(flags);
}

void write_cr3(uint64_t value)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"(value) : "memory");
	tlb_note(TLB_CR3, value, 0);
}

void write_cr4(uint64_t value)
{
	__asm__ volatile("mov %0, %%cr4" : : "r"(value) : "memory");
	tlb_note(TLB_CR4, value, 0);
}

void invlpg(uint64_t address)
{
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
	tlb_note(TLB_INVLPG, address, 0);
}

void invpcid(uint64_t type, uint64_t identifier, uint64_t address)
{
	const uint64_t descriptor[2] = {identifier, address};

	__asm__ volatile("invpcid %0, %1" : : "m"(descriptor), "r"(type) : "memory");
	tlb_note(TLB_INVPCID, identifier << 8 | type, address);
}

/*
 * Interrupts that nobody asked for. Only the APIC's timer is used here; what firmware has left running is silenced, and what
 * comes all the same is counted: it is a number in the records, and never a fault of the program that it interrupts.
 */
#include "boot/boot.h"
#include "boot/efi.h"
#include "cpu/cpu.h"
#include "lab.h"
#include "mm/mm.h"
#include "serial/console.h"
#include "serial/serial.h"

/* Two PICs (Intel 8259A), the second at input 2 of the first. A command port, and behind it that of data. */
#define PIC_FIRST  0x20
#define PIC_SECOND 0xa0
#define PIC_INPUT  2
#define PIC_BEGIN  0x11 /* ICW1: ICW4 follows */
#define PIC_8086   0x01 /* ICW4 */
#define PIC_SERVED 0x0b /* OCW3: the next read is of what is in service */
#define PIC_END	   0x20 /* OCW2 */
#define PIC_MASKED 0xff
#define PIC_INPUTS 8

/* An I/O APIC: a register that selects another, which is then to be found at 16. */
#define IO_WINDOW   16
#define IO_VERSION  1
#define IO_ENTRIES  0x10 /* two registers each */
#define IO_MASKED   0x10000
#define IO_DELIVERY 0x700
#define IO_SMI	    0x200

#define IO_INPUTS 256 /* by the width of the field that tells how many */

static uint32_t came[256];

/* For UEFI: what was masked here, and was not before. */
static struct silenced {
	volatile uint32_t *select; /* none: there is no such I/O APIC */
	uint32_t inputs[IO_INPUTS / 32];
} silenced[MOST_IO_APICS];
static uint8_t pic_masks[2];

static void pic_begin(uint16_t port, uint8_t vector, uint8_t position)
{
	out8(port, PIC_BEGIN);
	out8(port + 1, vector);
	out8(port + 1, position);
	out8(port + 1, PIC_8086);
	out8(port + 1, PIC_MASKED);
}

/* Masks what is not the firmware's own (SMI). An address where there is nothing reads as all ones. */
static void io_apic_silence(uint32_t address, struct silenced *silenced)
{
	volatile uint32_t *const select = tables_map_device(address, IO_WINDOW + sizeof(*select), MAP_DEVICE);
	volatile uint32_t *const window = select + IO_WINDOW / 4;

	if (!select)
		panic("no memory for the page of an I/O APIC");
	silenced->select = select;
	*select = IO_VERSION;
	const uint32_t version = *window;
	if (version == UINT32_MAX)
		return;
	const unsigned last = version >> 16 & 0xff;
	for (unsigned i = 0; i <= last; i++) {
		*select = IO_ENTRIES + 2 * i;
		const uint32_t entry = *window;
		if ((entry & IO_DELIVERY) != IO_SMI && !(entry & IO_MASKED)) {
			*window = entry | IO_MASKED;
			silenced->inputs[i / 32] |= 1u << i % 32;
		}
	}
}

static void io_apic_restore(const struct silenced *silenced)
{
	volatile uint32_t *const window = silenced->select + IO_WINDOW / 4;

	for (unsigned i = 0; i < IO_INPUTS; i++) {
		if (!(silenced->inputs[i / 32] >> i % 32 & 1))
			continue;
		*silenced->select = IO_ENTRIES + 2 * i;
		*window = *window & ~(uint32_t)IO_MASKED;
	}
}

/*
 * A PIC that is masked may still say that something came, as its input 7; on vectors of their own these are known. UEFI wants
 * its own vectors back, which cannot be read; its machines have a local APIC, which lets nothing of the PICs through (LINT0), and
 * until that is set up interrupts are off.
 */
static void pics_silence(void)
{
	if (efi_is_there()) {
		pic_masks[0] = in8(PIC_FIRST + 1);
		pic_masks[1] = in8(PIC_SECOND + 1);
		out8(PIC_FIRST + 1, PIC_MASKED);
		out8(PIC_SECOND + 1, PIC_MASKED);
		return;
	}
	pic_begin(PIC_FIRST, VECTOR_PIC, 1 << PIC_INPUT);
	pic_begin(PIC_SECOND, VECTOR_PIC + PIC_INPUTS, PIC_INPUT);
}

void strays_silence(const uint32_t *io_apics, unsigned count)
{
	pics_silence();
	/* Without ACPI's list there may be none, and at its usual address anything. */
	for (unsigned i = 0; i < count && i < MOST_IO_APICS; i++)
		io_apic_silence(io_apics[i], &silenced[i]);
	if (count > MOST_IO_APICS)
		log_line("of %" U64 " I/O APICs, only the first %" U64 " were silenced", (uint64_t)count,
			 (uint64_t)MOST_IO_APICS);
}

void strays_restore(void)
{
	for (unsigned i = 0; i < MOST_IO_APICS; i++)
		if (silenced[i].select)
			io_apic_restore(&silenced[i]);
	out8(PIC_FIRST + 1, pic_masks[0]);
	out8(PIC_SECOND + 1, pic_masks[1]);
}

/* Whether a PIC waits for the end of this input. */
static int pic_serves(uint16_t port, unsigned input)
{
	out8(port, PIC_SERVED);
	return in8(port) >> input & 1;
}

static void pic_end(unsigned input)
{
	if (input >= PIC_INPUTS) {
		if (pic_serves(PIC_SECOND, input - PIC_INPUTS))
			out8(PIC_SECOND, PIC_END);
		input = PIC_INPUT;
	}
	if (pic_serves(PIC_FIRST, input))
		out8(PIC_FIRST, PIC_END);
}

void stray_came(unsigned vector)
{
	/* At any instruction, even between the two halves of strays_report: one instruction. */
	__atomic_fetch_add(&came[vector], 1, __ATOMIC_RELAXED);
	if (vector < VECTOR_INTERRUPTS)
		return; /* an NMI has no end but iret */
	if (apic_serves(vector))
		apic_write(APIC_EOI, 0);
	else if (vector >= VECTOR_PIC && vector < VECTOR_PIC + 2 * PIC_INPUTS)
		pic_end(vector - VECTOR_PIC);
}

void strays_report(void)
{
	for (uint64_t vector = 0; vector < sizeof(came) / sizeof(came[0]); vector++) {
		const uint64_t payload[] = {vector, __atomic_exchange_n(&came[vector], 0, __ATOMIC_RELAXED)};
		if (!payload[1])
			continue;
		if (console_is_open())
			log_line("interrupts that nobody asked for: vector %" X64 ", %" U64 " times", vector,
				 payload[1]);
		record(RECORD_LAB_STRAY, payload, sizeof(payload));
	}
}

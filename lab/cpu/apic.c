/* The local APIC (SDM vol. 3, 11.4): found, silenced but for NMIs, and enabled. */
#include "cpu/cpu.h"
#include "mm/mm.h"

#define APIC_VERSION	 0x30
#define APIC_PRIORITY	 0x80
#define APIC_SPURIOUS	 0xf0
#define APIC_IN_SERVICE	 0x100 /* eight registers of 32 bits, 16 bytes apart */
#define APIC_CMCI	 0x2f0
#define APIC_THERMAL	 0x330
#define APIC_PERFORMANCE 0x340
#define APIC_LINT0	 0x350
#define APIC_LINT1	 0x360
#define APIC_ERROR	 0x370

#define APIC_ENABLE    0x100 /* in APIC_SPURIOUS */
#define DELIVERY       0x700 /* in an entry of the local vector table */
#define DELIVERY_SMI   0x200
#define DELIVERY_NMI   0x400
#define NO_EXCEPTIONS  0x10 /* in APIC_PRIORITY: nothing below vector 32 */
#define IN_SERVICE_END 0x180

#define BASE_X2APIC  0x400
#define BASE_ADDRESS 0xffffff000ul
#define MSR_X2APIC   0x800

static volatile uint8_t *registers; /* none: through MSRs, as x2APIC */
static int is_there;

void apic_write(unsigned offset, uint32_t value)
{
	if (registers)
		*(volatile uint32_t *)device_now(registers + offset) = value;
	else
		wrmsr(MSR_X2APIC + offset / 16, value);
}

uint32_t apic_read(unsigned offset)
{
	if (registers)
		return *(volatile uint32_t *)device_now(registers + offset);
	return (uint32_t)rdmsr(MSR_X2APIC + offset / 16);
}

int apic_serves(unsigned vector)
{
	return is_there && apic_read(APIC_IN_SERVICE + vector / 32 * 16) >> vector % 32 & 1;
}

/* What is delivered as an SMI is the firmware's business: it may be what protects the processor from heat. */
static int is_firmwares(uint32_t entry)
{
	return (entry & DELIVERY) == DELIVERY_SMI;
}

/* The local vector table. The error entry first: writing others may count as an error. */
static const struct {
	uint16_t offset, number;
} entries[] = {
    {APIC_ERROR, 3},	   {APIC_TIMER, 0},   {APIC_LINT0, 1}, {APIC_LINT1, 2},
    {APIC_PERFORMANCE, 4}, {APIC_THERMAL, 5}, {APIC_CMCI, 6},
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static struct {
	uint32_t entries[ENTRIES], spurious, priority, divide, initial;
} firmwares;

/* How many entries there are differs, and in x2APIC mode a missing one is a #GP. */
static int has_entry(unsigned i)
{
	return entries[i].number <= (apic_read(APIC_VERSION) >> 16 & 0xff);
}

static void mask_all(void)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		if (!has_entry(i))
			continue;
		firmwares.entries[i] = apic_read(entries[i].offset);
		if (!is_firmwares(firmwares.entries[i]))
			apic_write(entries[i].offset, firmwares.entries[i] | APIC_MASKED);
	}
}

/* Firmware may have left interrupts that were begun and never ended; they would hold off all of lower priority. */
static void end_all(void)
{
	for (unsigned offset = APIC_IN_SERVICE; offset < IN_SERVICE_END; offset += 16)
		for (uint32_t left = apic_read(offset); left; left &= left - 1)
			apic_write(APIC_EOI, 0);
}

int apic_init(void)
{
	if (!cpu.has_apic)
		return 0;
	const uint64_t base = rdmsr(MSR_APIC_BASE);
	if (!(base & BASE_X2APIC)) {
		registers = tables_map_device(base & BASE_ADDRESS, PAGE, MAP_DEVICE);
		if (!registers)
			panic("no memory for the APIC's page");
	}
	firmwares.spurious = apic_read(APIC_SPURIOUS);
	firmwares.priority = apic_read(APIC_PRIORITY);
	firmwares.divide = apic_read(APIC_DIVIDE);
	firmwares.initial = apic_read(APIC_INITIAL);
	mask_all();
	apic_write(APIC_SPURIOUS, APIC_ENABLE | VECTOR_SPURIOUS);
	apic_write(APIC_PRIORITY, NO_EXCEPTIONS);
	/* What a PC connects to LINT1: parity errors, watchdogs, a button. */
	if (!is_firmwares(apic_read(APIC_LINT1)))
		apic_write(APIC_LINT1, DELIVERY_NMI);
	end_all();
	is_there = 1;
	return 1;
}

/* The timer begins a whole period anew. Its deadline in ticks of the TSC, which firmware does not use, is not kept. */
void apic_restore(void)
{
	if (!is_there)
		return;
	apic_write(APIC_DIVIDE, firmwares.divide);
	for (unsigned i = ENTRIES; i-- > 0;)
		if (has_entry(i) && !is_firmwares(firmwares.entries[i]))
			apic_write(entries[i].offset, firmwares.entries[i]);
	apic_write(APIC_INITIAL, firmwares.initial);
	apic_write(APIC_PRIORITY, firmwares.priority);
	/* Last: where the APIC was off, no entry could be written any more. */
	apic_write(APIC_SPURIOUS, firmwares.spurious);
}

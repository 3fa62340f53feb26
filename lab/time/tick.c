/* The local APIC's timer (SDM vol. 3, 10.5.4): it updates the clocks, and notices a program that does not end. */
#include "cpu/cpu.h"
#include "mm/mm.h"
#include "time/tick.h"

#define APIC_SPURIOUS  0xf0
#define APIC_EOI       0xb0
#define APIC_TIMER     0x320
#define APIC_INITIAL   0x380
#define APIC_CURRENT   0x390
#define APIC_DIVIDE    0x3e0
#define APIC_ENABLE    0x100
#define TIMER_PERIODIC 0x20000
#define TIMER_MASKED   0x10000
#define DIVIDE_BY_1    0xb

#define BASE_X2APIC  0x400
#define BASE_ADDRESS 0xffffff000ul
#define MSR_X2APIC   0x800

#define PIC_MASTER 0x21
#define PIC_SLAVE  0xa1

#define CALIBRATION 1000000 /* ticks of the TSC */

static volatile uint8_t *registers; /* none: through MSRs, as x2APIC */
static int is_there;
static uint32_t count;

static void apic_write(unsigned offset, uint32_t value)
{
	if (registers)
		*(volatile uint32_t *)(registers + offset) = value;
	else
		wrmsr(MSR_X2APIC + offset / 16, value);
}

static uint32_t apic_read(unsigned offset)
{
	if (registers)
		return *(volatile uint32_t *)(registers + offset);
	return (uint32_t)rdmsr(MSR_X2APIC + offset / 16);
}

void tick_init(void)
{
	if (!cpu.has_apic)
		return;
	const uint64_t base = rdmsr(MSR_APIC_BASE);
	if (!(base & BASE_X2APIC)) {
		registers = tables_map_device(base & BASE_ADDRESS, PAGE);
		if (!registers)
			panic("no memory for the APIC's page");
	}
	out8(PIC_MASTER, 0xff);
	out8(PIC_SLAVE, 0xff);
	apic_write(APIC_SPURIOUS, APIC_ENABLE | VECTOR_SPURIOUS);
	apic_write(APIC_DIVIDE, DIVIDE_BY_1);
	apic_write(APIC_TIMER, TIMER_MASKED | VECTOR_TICK);
	is_there = 1;
}

void tick_set(uint64_t period)
{
	if (!is_there)
		return;
	apic_write(APIC_TIMER, TIMER_MASKED | VECTOR_TICK);
	apic_write(APIC_INITIAL, UINT32_MAX);
	const uint64_t start = rdtsc();
	while (rdtsc() - start < CALIBRATION)
		;
	const uint64_t gone = UINT32_MAX - apic_read(APIC_CURRENT), ticks = rdtsc() - start;
	const uint64_t wanted = gone * period / ticks;
	count = wanted > UINT32_MAX ? UINT32_MAX : wanted ? (uint32_t)wanted : 1;
	apic_write(APIC_INITIAL, 0);
	apic_write(APIC_TIMER, TIMER_PERIODIC | VECTOR_TICK);
}

void tick_restart(void)
{
	if (!is_there)
		return;
	apic_write(APIC_INITIAL, count);
	__asm__ volatile("sti; nop; cli"
			 :
			 :
			 : "memory"); /* a pending tick is handled before the program begins */
}

void tick_stop(void)
{
	if (is_there)
		apic_write(APIC_INITIAL, 0);
}

void tick_done(void)
{
	apic_write(APIC_EOI, 0);
}

/* The local APIC's timer (SDM vol. 3, 10.5.4): it updates the clocks, and notices a program that does not end. */
#include "cpu/cpu.h"
#include "time/tick.h"

#define TIMER_PERIODIC 0x20000
#define DIVIDE_BY_1    0xb

#define CALIBRATION 1000000 /* ticks of the TSC */

static int is_there;
static uint32_t count;
/* So many of the timer's ticks in so many of the TSC: neither changes, and to measure it takes longer than many a program. */
static uint64_t gone, ticks;

static void calibrate(void)
{
	apic_write(APIC_INITIAL, UINT32_MAX);
	const uint64_t start = rdtsc();
	while (rdtsc() - start < CALIBRATION)
		;
	gone = UINT32_MAX - apic_read(APIC_CURRENT);
	ticks = rdtsc() - start;
	apic_write(APIC_INITIAL, 0);
}

void tick_init(void)
{
	is_there = apic_init();
	if (!is_there)
		return;
	apic_write(APIC_DIVIDE, DIVIDE_BY_1);
	apic_write(APIC_TIMER, APIC_MASKED | VECTOR_TICK);
	calibrate();
}

void tick_set(uint64_t period)
{
	if (!is_there)
		return;
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

void tick_shift(void)
{
	static uint32_t shift;

	shift = (shift + 977) % 65536;
	if (is_there && apic_read(APIC_INITIAL))
		apic_write(APIC_INITIAL, count + shift);
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

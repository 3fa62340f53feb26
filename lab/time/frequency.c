/* How fast the TSC runs. */
#include "cpu/cpu.h"
#include "time/clock.h"

#define LEAF_TSC	0x15
#define LEAF_HYPERVISOR 0x40000000
#define LEAF_VM_TIMING	0x40000010 /* eax: kHz of the TSC */
#define ECX_HYPERVISOR	(1u << 31)

/* The PC's timer, channel 2 (Intel 8254). */
#define PIT_HERTZ    1193182ull
#define PIT_DATA     0x42
#define PIT_COMMAND  0x43
#define PIT_ONE_SHOT 0xb0 /* channel 2, both bytes, mode 0 */
#define SPEAKER	     0x61
#define SPEAKER_GATE 0x01
#define SPEAKER_ON   0x02
#define SPEAKER_OUT  0x20
#define PIT_TICKS    11932 /* 10 ms */
#define LEAST_HERTZ  10000000
#define PATIENCE     (1ull << 36)

static uint64_t from_cpuid(void)
{
	const struct cpuid ratio = cpuid(0, 0).eax >= LEAF_TSC ? cpuid(LEAF_TSC, 0) : (struct cpuid){0};

	if (ratio.eax && ratio.ebx && ratio.ecx)
		return (uint64_t)ratio.ecx * ratio.ebx / ratio.eax;
	if (!(cpuid(1, 0).ecx & ECX_HYPERVISOR) || cpuid(LEAF_HYPERVISOR, 0).eax < LEAF_VM_TIMING)
		return 0;
	return cpuid(LEAF_VM_TIMING, 0).eax * 1000ull;
}

static uint64_t from_pit(void)
{
	out8(SPEAKER, (uint8_t)((in8(SPEAKER) & ~SPEAKER_ON) | SPEAKER_GATE));
	out8(PIT_COMMAND, PIT_ONE_SHOT);
	out8(PIT_DATA, PIT_TICKS & 0xff);
	out8(PIT_DATA, PIT_TICKS >> 8);
	const uint64_t start = rdtsc();
	while (!(in8(SPEAKER) & SPEAKER_OUT))
		if (rdtsc() - start > PATIENCE)
			return 0;
	return (rdtsc() - start) * PIT_HERTZ / PIT_TICKS;
}

uint64_t find_tsc_frequency(void)
{
	const uint64_t told = from_cpuid();

	const uint64_t hertz = told ? told : from_pit();

	/* If every access to a port is slow, the timer has expired before the first look. */
	return hertz < LEAST_HERTZ ? 0 : hertz;
}

/*
 * The TSC's frequency, measured. A shot notes the TSC before and after each access to the timer, so that the time between
 * two accesses lies between two differences, whatever interrupted them: a hypervisor, SMM, a slow bus. Several shots
 * narrow that down.
 */
#include "time/timers.h"
#include "cpu/cpu.h"

#define SHOTS	 5
/* A shot takes 10 ms. One that takes so many ticks has a timer that stands still: 22 ms at 6 GHz, 0.13 s at 1 GHz. */
#define PATIENCE (1ull << 27)

/* The PC's timer, channel 2 (Intel 8254). */
#define PIT_HERTZ    1193182ull
#define PIT_DATA     0x42
#define PIT_COMMAND  0x43
#define PIT_ONE_SHOT 0xb0 /* channel 2, both bytes, mode 0 */
#define SPEAKER	     0x61
#define SPEAKER_GATE 0x01
#define SPEAKER_ON   0x02
#define SPEAKER_OUT  0x20
#define PIT_COUNT    11932 /* 10 ms */

/* ACPI Specification 6.5, 4.8.3.3: at least 24 bits, which wrap after 4.7 s. */
#define PM_HERTZ 3579545ull
#define PM_BITS	 0xffffffu
#define PM_COUNT 35796 /* 10 ms */

static uint32_t in32(uint16_t port)
{
	uint32_t value;
	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

/* Of a time that is at least `shortest` and at most `longest` ticks of the TSC. */
static struct bounds hertz_of(uint64_t shortest, uint64_t most_periods, uint64_t longest,
			      uint64_t least_periods, uint64_t timer)
{
	return (struct bounds){shortest * timer / most_periods, longest * timer / least_periods + 1};
}

/* 0 when the timer does not answer. */
typedef int take_shot(uint16_t port, struct bounds *hertz);

/* Its output goes high a count and up to one more period after the count's second byte (mode 0). */
static int pit_shot(uint16_t port, struct bounds *hertz)
{
	(void)port;
	out8(PIT_COMMAND, PIT_ONE_SHOT);
	out8(PIT_DATA, PIT_COUNT & 0xff);
	const uint64_t before = rdtsc();
	out8(PIT_DATA, PIT_COUNT >> 8);
	const uint64_t begun = rdtsc();
	uint64_t running = begun;

	for (;;) {
		const uint64_t now = rdtsc();
		if (in8(SPEAKER) & SPEAKER_OUT)
			break;
		running = now;
		if (now - begun > PATIENCE)
			return 0;
	}
	*hertz = hertz_of(running - begun, PIT_COUNT + 1, rdtsc() - before, PIT_COUNT, PIT_HERTZ);
	return running != begun; /* or it had expired before it was looked at, as where there is none */
}

static int pm_shot(uint16_t port, struct bounds *hertz)
{
	const uint64_t before = rdtsc();
	const uint32_t first = in32(port);
	const uint64_t begun = rdtsc();
	uint64_t running;
	uint32_t gone;

	do {
		running = rdtsc();
		gone = (in32(port) - first) & PM_BITS;
		if (running - begun > PATIENCE)
			return 0;
	} while (gone < PM_COUNT);
	*hertz = hertz_of(running - begun, gone + 1ull, rdtsc() - before, gone - 1ull, PM_HERTZ);
	return 1;
}

static struct bounds by_shots(take_shot *take, uint16_t port)
{
	struct bounds shots[SHOTS];

	for (unsigned i = 0; i < SHOTS; i++)
		if (!take(port, &shots[i]))
			return (struct bounds){0, 0};
	return estimate_agreed(shots, SHOTS);
}

struct bounds tsc_by_pit(void)
{
	const uint8_t speaker = in8(SPEAKER);

	out8(SPEAKER, (uint8_t)((speaker & ~SPEAKER_ON) | SPEAKER_GATE));
	const struct bounds hertz = by_shots(pit_shot, 0);
	out8(SPEAKER, speaker);
	return hertz;
}

struct bounds tsc_by_pm_timer(uint16_t port)
{
	return port ? by_shots(pm_shot, port) : (struct bounds){0, 0};
}

/* Clocks: everything is the TSC since boot, times a factor, plus a base. */
#include "time/clock.h"
#include "cpu/cpu.h"
#include "vdso/vsyscall.h"

#define SHIFT		 24 /* with a multiplier of 32 bits: TSCs from 4 MHz on; an overflow after minutes */
#define CLOCK_THREAD_CPU 3
#define SECOND_SHIFTED	 ((uint64_t)NANOSECONDS_A_SECOND << SHIFT)

union time_memory time_memory __attribute__((aligned(4096)));
/* vsyscall=original keeps a page of its own. */
extern uint8_t vsyscall_original_page[];

static uint64_t started; /* TSC */
static void *copy;

static void advance(struct time_base *base, uint64_t shifted)
{
	base->nanoseconds += shifted;
	while (base->nanoseconds >= SECOND_SHIFTED) {
		base->nanoseconds -= SECOND_SHIFTED;
		base->seconds++;
	}
}

static void copy_coarse(struct time_clock *clock, unsigned coarse, unsigned fine)
{
	clock->base[coarse].seconds = clock->base[fine].seconds;
	clock->base[coarse].nanoseconds = clock->base[fine].nanoseconds >> SHIFT;
}

static void update(struct time_clock *clock, uint64_t now)
{
	static const uint8_t fine[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
				       CLOCK_TAI};
	const uint64_t shifted = (now - clock->cycle_last) * clock->multiplier;
	volatile uint32_t *sequence = &clock->sequence;

	++*sequence;
	__asm__ volatile("" : : : "memory");
	clock->cycle_last = now;
	for (unsigned i = 0; i < sizeof(fine); i++)
		advance(&clock->base[fine[i]], shifted);
	copy_coarse(clock, CLOCK_REALTIME_COARSE, CLOCK_REALTIME);
	copy_coarse(clock, CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC);
	__asm__ volatile("" : : : "memory");
	++*sequence;
}

void clock_copy_to(void *page)
{
	copy = page;
}

void clock_update(void)
{
	const word flags = interrupts_off(); /* the tick updates, too */
	const uint64_t now = rdtsc();

	for (unsigned i = 0; i < TIME_CLOCKS; i++)
		update(&time_memory.page.clocks[i], now);
	__builtin_memcpy(vsyscall_original_page + VSYSCALL_TIME_OFFSET, &time_memory.page,
			 sizeof(time_memory.page));
	if (copy)
		__builtin_memcpy(copy, &time_memory, sizeof(time_memory));
	interrupts_restore(flags);
}

void clock_init(uint64_t seconds, uint64_t hertz)
{
	for (unsigned i = 0; i < TIME_CLOCKS; i++) {
		struct time_clock *clock = &time_memory.page.clocks[i];
		clock->mode = hertz ? TIME_MODE_TSC : TIME_MODE_NONE;
		clock->cycle_last = rdtsc();
		clock->mask = ~0ull;
		clock->multiplier = hertz ? (uint32_t)(SECOND_SHIFTED / hertz) : 1u << SHIFT;
		clock->shift = SHIFT;
		clock->base[CLOCK_REALTIME].seconds = clock->base[CLOCK_TAI].seconds = seconds;
	}
	clock_update();
}

/* TSC ticks as nanoseconds; a program may run for days, so the product may have more than 64 bits. */
static uint64_t nanoseconds_of(uint64_t ticks)
{
	const uint64_t multiplier = time_memory.page.clocks[CLOCK_RAW].multiplier;
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)ticks * multiplier >> SHIFT);
#else
	const uint64_t low = (uint32_t)ticks * multiplier, high = (ticks >> 32) * multiplier;

	return (high << (32 - SHIFT)) + (low >> SHIFT);
#endif
}

void clock_set_resolution(uint64_t ticks)
{
	time_memory.page.coarse_resolution = (uint32_t)nanoseconds_of(ticks);
}

void clock_program_starts(void)
{
	clock_update();
	started = rdtsc();
}

uint64_t clock_program_ticks(void)
{
	return rdtsc() - started;
}

int clock_read(uint32_t id, struct time_value *out)
{
	if (id != CLOCK_PROCESS_CPU && id != CLOCK_THREAD_CPU)
		return time_read(&time_memory.page, id, out);
	/* The program has had the CPU to itself. */
	const uint64_t nanoseconds = nanoseconds_of(clock_program_ticks());
	out->seconds = nanoseconds / NANOSECONDS_A_SECOND;
	out->nanoseconds = (uint32_t)(nanoseconds % NANOSECONDS_A_SECOND);
	return 1;
}

uint32_t clock_resolution(uint32_t id)
{
	return id == CLOCK_PROCESS_CPU || id == CLOCK_THREAD_CPU ? 1 : time_resolution(&time_memory.page, id);
}

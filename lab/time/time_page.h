/*
 * The time page: how a reading of the TSC becomes a time. The kernel writes it; the vDSO images, the vsyscall page and
 * the kernel itself read it, all by the functions below (the kernel with its own address of the page), so that every
 * way to a clock gives the same answer.
 *
 *	time = base + ((tsc - cycle_last) * multiplier >> shift)
 *
 * The layout is Linux's struct vdso_clock (include/vdso/datapage.h; without max_cycles, which 6.10 put behind
 * cycle_last), and probe/x86_64/time_page.c finds it by that. 32-bit code reads it too: members have fixed sizes and
 * lie at multiples of them.
 *
 * The writer of a clock makes `sequence` odd, changes the rest, and makes it even again. It does so with interrupts off,
 * because a reader that interrupts the writer would wait for ever. Stores need no fence on x86, only volatile, which keeps the
 * compiler from moving them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Clock ids, as in include/uapi/linux/time.h; they index base[]. */
#define CLOCK_REALTIME	       0
#define CLOCK_MONOTONIC	       1
#define CLOCK_MONOTONIC_RAW    4
#define CLOCK_REALTIME_COARSE  5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME	       7
#define CLOCK_TAI	       11
#define TIME_BASES	       12

/* The page's two clocks: the raw one is never slewed. */
#define CLOCK_HRES  0
#define CLOCK_RAW   1
#define TIME_CLOCKS 2

/* Bit per clock id. */
#define TIME_FINE_CLOCKS                                                                                     \
	(1u << CLOCK_REALTIME | 1u << CLOCK_MONOTONIC | 1u << CLOCK_BOOTTIME | 1u << CLOCK_TAI)
#define TIME_COARSE_CLOCKS (1u << CLOCK_REALTIME_COARSE | 1u << CLOCK_MONOTONIC_COARSE)
#define TIME_RAW_CLOCKS	   (1u << CLOCK_MONOTONIC_RAW)

#define TIME_MODE_NONE 0 /* the TSC's frequency is unknown: ask the kernel */
#define TIME_MODE_TSC  1

#define NANOSECONDS_A_SECOND 1000000000u

struct time_base {
	uint64_t seconds;
	uint64_t nanoseconds; /* << shift, but for the coarse clocks; below a second */
};

struct time_clock {
	uint32_t sequence; /* odd while it is being written */
	int32_t mode;	   /* TIME_MODE_* */
	uint64_t cycle_last;
	uint64_t mask; /* ~0; no reader here uses it */
	uint32_t multiplier, shift;
	struct time_base base[TIME_BASES];
};
_Static_assert(offsetof(struct time_clock, cycle_last) == 8, "as in struct vdso_clock");
_Static_assert(offsetof(struct time_clock, multiplier) == 24, "as in struct vdso_clock");
_Static_assert(offsetof(struct time_clock, base) == 32, "as in struct vdso_clock");
_Static_assert(sizeof(struct time_clock) == 224, "the same in 32 and 64 bit");

struct time_page {
	struct time_clock clocks[TIME_CLOCKS];
	uint32_t coarse_resolution; /* nanoseconds from one update of the coarse clocks to the next */
	uint32_t reserved;
};
_Static_assert(sizeof(struct time_page) == 456, "the same in 32 and 64 bit");

struct time_value {
	uint64_t seconds;
	uint32_t nanoseconds; /* below a second */
};

/* The fence keeps rdtsc from executing before the sequence number is read. */
static inline uint64_t time_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The sequence number that everything read from now on belongs to. */
static inline uint32_t time_sequence(const volatile struct time_clock *clock)
{
	uint32_t sequence;

	do
		sequence = clock->sequence;
	while (sequence & 1);
	return sequence;
}

/*
 * Adds less than 2^41 nanoseconds, which is half an hour; a shift of 24 bits leaves 2^40. The work is the same at every
 * moment of a second: a loop that subtracts would make one turn more once a second is over. Both 10^9 and the nanoseconds
 * are divided by 2^9 first, because 32-bit code would have to call libgcc to divide 64 bits; compilers make a
 * multiplication of the rest.
 */
static inline void time_carry(uint64_t nanoseconds, struct time_value *out)
{
	const uint32_t seconds = (uint32_t)(nanoseconds >> 9) / (NANOSECONDS_A_SECOND >> 9);

	out->seconds += seconds;
	out->nanoseconds = (uint32_t)nanoseconds - seconds * NANOSECONDS_A_SECOND;
}

/* 0 when the clock does not run on the TSC. */
static inline int time_read_fine(const volatile struct time_clock *clock, uint32_t id, struct time_value *out)
{
	uint64_t nanoseconds;
	uint32_t sequence;

	do {
		sequence = time_sequence(clock);
		if (clock->mode != TIME_MODE_TSC)
			return 0;
		const uint64_t cycles = time_tsc(), last = clock->cycle_last;
		const uint64_t gone = cycles > last ? cycles - last : 0;
		nanoseconds = (clock->base[id].nanoseconds + gone * clock->multiplier) >> clock->shift;
		out->seconds = clock->base[id].seconds;
	} while (clock->sequence != sequence);
	time_carry(nanoseconds, out);
	return 1;
}

static inline int time_read_coarse(const volatile struct time_clock *clock, uint32_t id,
				   struct time_value *out)
{
	uint32_t sequence;

	do {
		sequence = time_sequence(clock);
		out->seconds = clock->base[id].seconds;
		out->nanoseconds = (uint32_t)clock->base[id].nanoseconds;
	} while (clock->sequence != sequence);
	return 1;
}

/* The time of a clock; 0 when the page does not have it. */
static inline int time_read(const volatile struct time_page *page, uint32_t id, struct time_value *out)
{
	if (id >= TIME_BASES)
		return 0;
	const uint32_t bit = 1u << id;
	if (bit & TIME_COARSE_CLOCKS)
		return time_read_coarse(&page->clocks[CLOCK_HRES], id, out);
	if (!(bit & (TIME_FINE_CLOCKS | TIME_RAW_CLOCKS)))
		return 0;
	return time_read_fine(&page->clocks[bit & TIME_RAW_CLOCKS ? CLOCK_RAW : CLOCK_HRES], id, out);
}

/* What clock_getres answers, in nanoseconds; 0 when the page does not have the clock. */
static inline uint32_t time_resolution(const volatile struct time_page *page, uint32_t id)
{
	if (id >= TIME_BASES)
		return 0;
	const uint32_t bit = 1u << id;
	if (bit & TIME_COARSE_CLOCKS)
		return page->coarse_resolution;
	return bit & (TIME_FINE_CLOCKS | TIME_RAW_CLOCKS) ? 1 : 0;
}

/* What time() answers: as of the last update, as on Linux. 32-bit code takes the low half, by one load. */
static inline unsigned long time_seconds(const volatile struct time_page *page)
{
	return (unsigned long)page->clocks[CLOCK_HRES].base[CLOCK_REALTIME].seconds;
}

/* 32 bits wide, and so a multiplication. */
static inline uint32_t time_microseconds(uint32_t nanoseconds)
{
	return nanoseconds / 1000;
}

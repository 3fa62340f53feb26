/*
 * The kernel's time page, read without the vDSO's functions around it. Its layout (include/vdso/datapage.h)
 * is no ABI and has changed, so it is searched for by what it must contain, and believed only when it agrees
 * with clock_gettime.
 */
#include "probe.h"

#include <linux/auxvec.h>

#define VVAR_PAGES 16 /* how far before the vDSO the time page is looked for; it was 4 to 8 so far */

#define CLOCK_REALTIME	       0
#define CLOCK_MONOTONIC	       1
#define CLOCK_MONOTONIC_RAW    4
#define CLOCK_MONOTONIC_COARSE 6
#define BASES		       12 /* VDSO_BASES */

#define CLOCKMODE_TSC 1
#define AGREEMENTS    64
#define NANOSECONDS   1000000000ull

/* struct vdso_clock; between the two parts some kernels (6.10 on) keep max_cycles. */
struct clock_head {
	uint32_t seq;
	int32_t mode;
	uint64_t cycle_last;
};
struct clock_scale {
	uint64_t mask;
	uint32_t mult, shift;
	struct {
		uint64_t sec, nsec; /* nsec << shift, but for the coarse clocks */
	} base[BASES];
};

static const volatile struct clock_head *head;
static const volatile struct clock_scale *scale;

struct wide_time {
	uint64_t seconds, nanoseconds;
};

/* By a multiplication, which compilers make of it: a loop would cost one turn more from the end of a second to the next tick. */
static inline void carry(struct wide_time *time)
{
	time->seconds += time->nanoseconds / NANOSECONDS;
	time->nanoseconds %= NANOSECONDS;
}

/* As lib/vdso/gettimeofday.c, do_hres: read everything between two equal, even sequence numbers. */
static inline struct wide_time read_fine(unsigned base)
{
	struct wide_time now;
	uint32_t seq;

	do {
		do
			seq = head->seq;
		while (seq & 1);
		const uint64_t cycles = tsc(), last = head->cycle_last;
		const uint64_t gone = cycles > last ? cycles - last : 0;
		now.nanoseconds = (scale->base[base].nsec + gone * scale->mult) >> scale->shift;
		now.seconds = scale->base[base].sec;
	} while (head->seq != seq);
	carry(&now);
	return now;
}

static inline struct wide_time read_coarse(unsigned base)
{
	struct wide_time now;
	uint32_t seq;

	do {
		do
			seq = head->seq;
		while (seq & 1);
		now.nanoseconds = scale->base[base].nsec;
		now.seconds = scale->base[base].sec;
	} while (head->seq != seq);
	return now;
}

static long page_clock_gettime(unsigned long clock, struct wide_time *out)
{
	*out = read_fine((unsigned)clock);
	return 0;
}

static long page_clock_gettime_coarse(unsigned long clock, struct wide_time *out)
{
	*out = read_coarse((unsigned)clock);
	return 0;
}

static long page_gettimeofday(struct wide_time *out)
{
	*out = read_fine(CLOCK_REALTIME);
	out->nanoseconds = (uint32_t)out->nanoseconds / 1000; /* a multiplication, by a constant */
	return 0;
}

static long page_time(uint64_t *out)
{
	*out = scale->base[CLOCK_REALTIME].sec;
	return (long)*out;
}

static unsigned long reader(const struct operation *operation)
{
	switch (operation->id) {
	case OPERATION_GETTIMEOFDAY:
		return (unsigned long)page_gettimeofday;
	case OPERATION_TIME:
		return (unsigned long)page_time;
	case OPERATION_CLOCK_GETTIME_MONOTONIC_COARSE:
		return (unsigned long)page_clock_gettime_coarse;
	default:
		return (unsigned long)page_clock_gettime;
	}
}

static uint64_t nanoseconds(struct wide_time time)
{
	return time.seconds * NANOSECONDS + time.nanoseconds;
}

/*
 * Could `head` and `scale` be the structure that keeps this clock? Cheap, and enough to make the comparison safe.
 * CLOCK_MONOTONIC_RAW has one of its own, behind the one of all others.
 */
static int is_plausible(unsigned clock)
{
	const uint64_t now = tsc(), time = reference_time(clock);

	if (head->mode != CLOCKMODE_TSC || scale->mask != ~0ull || !scale->mult || !scale->shift ||
	    scale->shift > 32)
		return 0;
	if (head->cycle_last > now || now - head->cycle_last > 1ull << 36)
		return 0;
	const uint64_t base = scale->base[clock].sec * NANOSECONDS;
	return base <= time && time - base < 4 * NANOSECONDS;
}

static int agrees(unsigned clock, int coarse)
{
	const uint64_t before = reference_time(clock);
	const uint64_t got = nanoseconds(coarse ? read_coarse(clock) : read_fine(clock));

	return before <= got && got <= reference_time(clock);
}

/* Does every clock that is read from here agree with the kernel, again and again? */
static int is_the_time_page(int raw)
{
	if (!is_plausible(raw ? CLOCK_MONOTONIC_RAW : CLOCK_REALTIME))
		return 0;
	for (int i = 0; i < AGREEMENTS; i++) {
		if (raw && !agrees(CLOCK_MONOTONIC_RAW, 0))
			return 0;
		if (!raw && !(agrees(CLOCK_REALTIME, 0) && agrees(CLOCK_MONOTONIC, 0) &&
			      agrees(CLOCK_MONOTONIC_COARSE, 1)))
			return 0;
	}
	return 1;
}

/* Tries every place of a page, with and without max_cycles. */
static int find_in(const uint8_t *page, int raw)
{
	for (unsigned gap = 0; gap <= 8; gap += 8)
		for (unsigned long at = 0; at + sizeof(*head) + gap + sizeof(*scale) <= PAGE; at += 8) {
			head = (const void *)(page + at);
			scale = (const void *)(page + at + sizeof(*head) + gap);
			if (is_the_time_page(raw))
				return 1;
		}
	return 0;
}

/* A pipe takes a byte from a readable page and answers EFAULT otherwise: no fault to handle. */
static int is_readable(const uint8_t *page, int pipe)
{
	return system_call(NR_WRITE, pipe, (long)page, 1, 0, 0, 0) == 1;
}

static int find_before_vdso(int raw)
{
	const uint8_t *vdso = (const uint8_t *)auxv(AT_SYSINFO_EHDR);
	int pipe[2];

	if (!vdso)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_AUXV, AT_SYSINFO_EHDR, 0, 0, 0);
	if (system_call(NR_PIPE2, (long)pipe, 0, 0, 0, 0, 0) < 0)
		return 0;
	for (unsigned long i = 1; i <= VVAR_PAGES; i++)
		if (is_readable(vdso - i * PAGE, pipe[1]) && find_in(vdso - i * PAGE, raw))
			return 1;
	return 0;
}

unsigned long time_page_prepare(const struct operation *operation, int from_devmem)
{
	const int raw = operation->clock == CLOCK_MONOTONIC_RAW;
	const int found = from_devmem ? find_in(devmem_time_page(), raw) : find_before_vdso(raw);

	if (!found)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_TIME_PAGE, 0, 0, 0, 0);
	return reader(operation);
}

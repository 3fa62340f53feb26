/* Entries whose timed code is of 16 bits: where it is, how it is called, and what it shares with all other code. */
#include "fault.h"
#include "lab.h"
#include "probe.h"

#ifdef __x86_64__

const struct routines *sixteen_routines(const struct routines *of)
{
	return of;
}

#else

#define NR_MMAP2	      192
#define PROTECT_ALL	      7
#define MAP_PRIVATE_ANONYMOUS 0x22
#define MAP_FIXED	      0x10

#define FLAGS_VIF 0x80000 /* asks for CR4.VME, too */

#define SAMPLES 64

/* As layout.h has it for assembly. */
struct window {
	uint8_t code[SIXTEEN_DATA];
	uint32_t function, out, count, padding;
	uint8_t stamps[48];
	struct invocation invocation;
	uint8_t gap[64 - sizeof(struct invocation)];
	uint64_t before[24], behind[24];
	struct sample samples[SAMPLES];
};
_Static_assert(offsetof(struct window, function) == (SIXTEEN_FUNCTION), "the way there");
_Static_assert(offsetof(struct window, out) == (SIXTEEN_OUT), "TAKE");
_Static_assert(offsetof(struct window, count) == (SIXTEEN_COUNT), "sample_count");
_Static_assert(offsetof(struct window, stamps) == (SIXTEEN_STAMPS), "STAMP");
_Static_assert(offsetof(struct window, invocation) == (SIXTEEN_INVOCATION), "LOAD");
_Static_assert(offsetof(struct window, before) == (SIXTEEN_BEFORE), "SNAPSHOT");
_Static_assert(offsetof(struct window, behind) == (SIXTEEN_BEHIND), "SNAPSHOT");
_Static_assert(offsetof(struct window, samples) == (SIXTEEN_SAMPLES), "TAKE");
_Static_assert(SAMPLES >= BLOCK_SAMPLES && SAMPLES >= WARM_SAMPLES, "all that are taken at once");

extern uint8_t __start_sixteen[], __stop_sixteen[], sixteen_begin_v86[], sixteen_begin_segments[],
    sixteen_handler[];
void sixteen_by_v86(unsigned long ip, unsigned long flags);
void sixteen_by_segments(unsigned long ip);

static const struct routines *inner;
static struct window *const window = (struct window *)SIXTEEN_BASE;

static unsigned long offset_of(const void *code)
{
	return (unsigned long)((const uint8_t *)code - __start_sixteen);
}

static void call(const void *function, struct sample *out, unsigned long count, unsigned long taken)
{
	window->function = (uint32_t)offset_of(function);
	window->out = SIXTEEN_SAMPLES;
	window->count = count;
	window->invocation = invocations[0];
	if (inner->entry == ENTRY_CODE16_INT)
		sixteen_by_segments(offset_of(sixteen_begin_segments));
	else
		sixteen_by_v86(offset_of(sixteen_begin_v86),
			       inner->entry == ENTRY_V86_INT_REDIRECTED ? FLAGS_VIF : 0);
	for (unsigned long i = 0; i < taken; i++)
		out[i] = window->samples[i];
}

static void timed(struct sample *out, unsigned long count)
{
	call(inner->timed, out, count, count);
}

static void burst(struct sample *out)
{
	call(inner->burst, out, 0, 1);
}

static void loop(struct sample *unused, unsigned long count)
{
	call(inner->loop, unused, count, 0);
}

static void checked(void)
{
	call(inner->checked, 0, 0, 0);
	for (unsigned i = 0; i < REGISTERS; i++) {
		registers_before[0][i] = window->before[i];
		registers_after[0][i] = window->behind[i];
	}
}

static int is_sixteen(uint16_t entry)
{
	return entry == ENTRY_V86_INT || entry == ENTRY_V86_INT_REDIRECTED || entry == ENTRY_CODE16_INT;
}

const struct routines *sixteen_routines(const struct routines *of)
{
	static struct routines outer;

	if (!is_sixteen(of->entry))
		return of;
	inner = of;
	outer = *of;
	outer.timed = outer.among = timed;
	outer.burst = burst;
	outer.loop = loop;
	outer.checked = checked;
	return &outer;
}

static void need_map(unsigned long address, unsigned long bytes)
{
	const long got = system_call(NR_MMAP2, (long)address, (long)bytes, PROTECT_ALL,
				     MAP_PRIVATE_ANONYMOUS | MAP_FIXED, -1, 0);

	if (got < 0 && got >= -4095)
		emit_refusal(OUTCOME_ERROR, CAUSE_ERRNO, (uint64_t)-got, 0, 0, 0);
}

/* The 8086's table, at address 0, where C has no object: offset and segment of where the interrupt goes. */
static void prepare_table(void)
{
	const uint32_t target = (SIXTEEN_BASE / 16) << 16 | (uint32_t)offset_of(sixteen_handler);

	need_map(0, PAGE);
	__asm__ volatile("mov %0, (%1)" : : "r"(target), "r"(4 * VECTOR_V86_REDIRECTED) : "memory");
}

void sixteen_prepare(const struct request *request)
{
	/* It is not within 64 KiB. */
	if (has_footprint(request))
		emit_refusal(OUTCOME_ERROR, CAUSE_REQUEST, REQUEST_PAGES, 0, 0, 0);
	need_map(SIXTEEN_BASE, SIXTEEN_ROOM);
	for (const uint8_t *from = __start_sixteen; from < __stop_sixteen; from++)
		window->code[offset_of(from)] = *from;
	if (request->entry->id == ENTRY_V86_INT_REDIRECTED)
		prepare_table();
}

#endif

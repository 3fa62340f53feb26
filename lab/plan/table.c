/*
 * The table on the screen of a machine that boots an image: a line for every probe, from its records. Where the command
 * uses statistics, this uses means of what is near the median (reading.c).
 */
#include "plan/table.h"
#include "plan/reading.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "names.h"
#include "serial/console.h"
#include "serial/line.h"

#define COLLECTED (256ul << 10) /* a run of an image writes a seventh of it */

/* The length of the loop in ring.S, in instructions: what it takes where a tick is an instruction. */
#define TICKS_IF_COUNTED 80005

/* QEMU's emulator, where both rings take equally long. */
#define LEAF_HYPERVISOR 0x40000000
#define NAME_TCG	0x54474354 /* "TCGT" of TCGTCGTCGTCG */

#define OPERATION_COLUMN 18
#define TICKS_COLUMN	 50
#define CYCLES_COLUMN	 64

/* What the screen repeats above rows that begin a column of it. */
#define HEADING_TABLE	      0
#define HEADING_CONFIGURATION 1

static uint8_t collected[COLLECTED];
static uint64_t collected_bytes;
/* What the TSC means here: time, instructions, or nothing. */
static enum { TIME, INSTRUCTIONS, NOTHING } meaning;
static struct reading reading;

static void put(struct line_buffer *line, unsigned level)
{
	console_line(line->text, line->length, level);
	line->length = 0;
}

static const char *name_of(uint64_t id, int is_entry)
{
#define ROW(id_, name_)                                                                                      \
	case id_:                                                                                            \
		return name_;
	if (is_entry)
		switch (id) {
			ENTRY_NAMES(ROW)
		}
	else
		switch (id) {
			OPERATION_NAMES(ROW)
		}
#undef ROW
	return "?";
}

void table_title(void)
{
	static char brand[49];
	struct line_buffer line = {.length = 0};

	for (uint32_t i = 0; i < 3; i++) {
		const struct cpuid part = cpuid(0x80000002 + i, 0);
		__builtin_memcpy(brand + i * 16, &part, 16);
	}
	line_text(&line, "kentry lab on ");
	line_text(&line, brand);
	put(&line, CONSOLE_TEXT);
}

void table_begin(uint64_t ring0, uint64_t ring3, int syscall_works, uint64_t hertz)
{
	static const char *const meanings[] = {
	    [TIME] = " in ring 3: ring 0 runs natively",
	    [INSTRUCTIONS] = " in ring 3: emulated, a tick is an instruction",
	    [NOTHING] = " in ring 3: emulated, no time means anything",
	};
	struct line_buffer line = {.length = 0};

	if (ring0 == TICKS_IF_COUNTED && ring3 == TICKS_IF_COUNTED)
		meaning = INSTRUCTIONS;
	else if (cpuid(LEAF_HYPERVISOR, 0).ebx == NAME_TCG || !syscall_works || ring0 > 2 * ring3 ||
		 ring3 > 2 * ring0)
		meaning = NOTHING;
	line_text(&line, "the same loop took ");
	line_number(&line, ring0, 10);
	line_text(&line, " ticks in ring 0 and ");
	line_number(&line, ring3, 10);
	line_text(&line, meanings[meaning]);
	put(&line, CONSOLE_TEXT);
	line_text(&line, "TSC ");
	line_number(&line, hertz / 1000000, 10);
	line_text(&line, " MHz");
	put(&line, CONSOLE_TEXT);
	line_text(&line, "entry");
	line_blank_to(&line, OPERATION_COLUMN);
	line_text(&line, "operation");
	line_blank_to(&line, TICKS_COLUMN);
	line_text(&line, meaning == INSTRUCTIONS ? "instructions" : "ticks");
	line_blank_to(&line, CYCLES_COLUMN);
	line_text(&line, "core cycles");
	put(&line, HEADING_TABLE);
}

void table_configuration(void)
{
	static configuration shown = {[SWITCH_SMAP] = UINT32_MAX};
	struct line_buffer line = {.length = 0};

	/* The row's name tells which gate it is; its line shows what was observed. */
	shown[SWITCH_GATE] = configured[SWITCH_GATE];
	if (configured[SWITCH_OBSERVE] == OBSERVE_ON)
		return;
	if (!__builtin_memcmp(shown, configured, sizeof(shown)))
		return;
	__builtin_memcpy(shown, configured, sizeof(shown));
	line_text(&line, "--");
	/* Numbers only where they are not the default, so that the line fits the screen. */
#define ROW(id_, name_, index_, value_, default_)                                                            \
	if (id_ != SWITCH_GATE && id_ != SWITCH_OBSERVE && configured[id_] == index_)                        \
		line_text(&line, " " name_ "=" value_);
	SWITCH_VALUES(ROW)
#undef ROW
#define ROW(id_, name_, least_, most_, default_)                                                             \
	if (configured[id_] != (default_)) {                                                                 \
		line_text(&line, " " name_ "=");                                                             \
		line_number(&line, configured[id_], 10);                                                     \
	}
	SWITCH_NUMBERS(ROW)
#undef ROW
	put(&line, HEADING_CONFIGURATION);
}

void table_collect(const uint8_t *bytes, uint64_t count)
{
	if (count > COLLECTED - collected_bytes)
		count = COLLECTED - collected_bytes;
	__builtin_memcpy(collected + collected_bytes, bytes, count);
	collected_bytes += count;
}

static void put_signed(struct line_buffer *line, int64_t number)
{
	if (number < 0)
		line_letter(line, '-');
	line_number(line, (uint64_t)(number < 0 ? -number : number), 10);
}

static void put_figures(struct line_buffer *line)
{
	const struct figures figures = reading_figures(&reading);

	if (meaning == NOTHING || !figures.ordered)
		line_letter(line, '-');
	else
		put_signed(line, figures.ticks);
	line_blank_to(line, CYCLES_COLUMN);
	if (meaning == TIME && figures.has_cycles)
		put_signed(line, figures.cycles);
	else
		line_letter(line, '-');
}

static const char *outcome_name(uint64_t outcome, struct end end)
{
	static const char *const names[] = {
	    [OUTCOME_OK] = "ok",       [OUTCOME_UNSUPPORTED] = "unsupported", [OUTCOME_REFUSED] = "refused",
	    [OUTCOME_FAULT] = "fault", [OUTCOME_MISMATCH] = "mismatch",
	};

	switch (end.how) {
	case LAB_END_FAULT:
		return "fault";
	case LAB_END_RUNAWAY:
		return "timeout";
	case LAB_END_UNSUPPORTED:
		return "unsupported";
	case LAB_END_EXITED:
		return outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "error";
	default:
		return "error";
	}
}

static uint64_t number_of(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

static void put_outcome(struct line_buffer *line, uint64_t outcome, struct end end)
{
	line_text(line, outcome_name(outcome, end));
	if (end.how != LAB_END_FAULT)
		return;
	line_text(line, ": vector ");
	line_number(line, end.detail[2] >> 32, 10);
}

/* What was observed at a gate; nothing if the probe did not return. */
static void put_observed(struct line_buffer *line, struct end end)
{
	if (end.how != LAB_END_EXITED || end.detail[1] == LAB_IF_UNKNOWN)
		return;
	line_text(line, end.detail[1] == LAB_IF_SET ? "interrupts stay on in the kernel (IF=1)"
						    : "interrupts are off in the kernel (IF=0)");
	put(line, CONSOLE_TEXT);
}

void table_row(const char *const *arguments, unsigned count, struct end end)
{
	struct line_buffer line = {.length = 0};
	const uint64_t outcome = reading_take(&reading, collected, collected_bytes);

	collected_bytes = 0;
	if (count <= REQUEST_OPERATION)
		return;
	line_text(&line, name_of(number_of(arguments[REQUEST_ENTRY]), 1));
	line_blank_to(&line, OPERATION_COLUMN);
	if (configured[SWITCH_OBSERVE] == OBSERVE_ON) {
		put_observed(&line, end);
		return;
	}
	line_text(&line, name_of(number_of(arguments[REQUEST_OPERATION]), 0));
	line_blank_to(&line, TICKS_COLUMN);
	if (end.how == LAB_END_EXITED && outcome == OUTCOME_OK && reading.samples.count)
		put_figures(&line);
	else
		put_outcome(&line, outcome, end);
	put(&line, CONSOLE_TEXT);
}

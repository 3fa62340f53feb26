/*
 * The table on the screen of a machine that boots an image: a line for every probe, from its records. Where the command
 * uses statistics, this uses means of what is near the median (reading.c).
 */
#include "plan/table.h"
#include "plan/reading.h"
#include "plan/verdict.h"
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "names.h"
#include "serial/console.h"
#include "serial/line.h"

#define COLLECTED (256ul << 10) /* a run of an image writes a seventh of it */

/* The length of the loop in ring.S, in instructions: what it takes where a tick is an instruction. */
#define TICKS_IF_COUNTED 80005

/* QEMU's emulator, where both rings take equally long. */
#define NAME_TCG 0x54474354 /* "TCGT" of TCGTCGTCGTCG */

/* A probe that the firmware interrupts is run so often. */
#define MOST_RUNS 3

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
/* Whether the configuration's line still lacks the one of its counters. */
static int counters_due;

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

/* The times of rows that do this are mostly the hypervisor's. Where CPUID has none, time alone does not prove that there is one. */
static void put_trapped(unsigned trapped, int is_guest)
{
	static const struct {
		unsigned what;
		const char *name;
	} all[] = {
	    {TRAPPED_CR3_WRITES, " CR3 writes"},
	    {TRAPPED_INTERRUPTS, " interrupts"},
	    {TRAPPED_INVALID, " invalid instructions"},
	    {TRAPPED_CR4_WRITES, " CR4 writes"},
	    {TRAPPED_SPEC_CTRL, " SPEC_CTRL writes"},
	    {TRAPPED_PRED_CMD, " IBPBs"},
	    {TRAPPED_FLUSH_CMD, " L1D flushes"},
	    {TRAPPED_INVPCID, " invpcid"},
	    {TRAPPED_INVLPG, " invlpg"},
	};
	struct line_buffer line = {.length = 0};
	const char *before = "";

	line_text(&line, is_guest ? "the hypervisor handles itself:" : "unexpectedly slow here:");
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!(trapped & all[i].what))
			continue;
		line_text(&line, before);
		line_text(&line, all[i].name);
		before = ",";
	}
	put(&line, CONSOLE_TEXT);
	if (is_guest)
		return;
	line_text(&line, "(a hypervisor may hide itself)");
	put(&line, CONSOLE_TEXT);
}

static void put_frequency(uint64_t hertz)
{
	struct line_buffer line = {.length = 0};

	line_text(&line, "TSC ");
	if (hertz)
		line_number(&line, hertz / 1000000, 10);
	line_text(&line, hertz ? " MHz" : "of unknown frequency");
	put(&line, CONSOLE_TEXT);
}

/* A processor that was not started waits as its firmware has left it, which no table tells: in hlt, in mwait, or in a loop that takes time. */
static void put_processors(uint64_t count)
{
	struct line_buffer line = {.length = 0};

	if (count < 2)
		return;
	line_number(&line, count, 10);
	line_text(&line, " processors, one is used; how firmware has the others wait is not known");
	put(&line, CONSOLE_TEXT);
}

void table_begin(const uint64_t *boot)
{
	const uint64_t ring0 = boot[LAB_BOOT_RING0_TICKS], ring3 = boot[LAB_BOOT_RING3_TICKS];
	static const char *const meanings[] = {
	    [TIME] = " in ring 3: ring 0 runs natively",
	    [INSTRUCTIONS] = " in ring 3: emulated, a tick is an instruction",
	    [NOTHING] = " in ring 3: emulated, no time means anything",
	};
	const struct verdict verdict = verdict_of(boot);
	struct line_buffer line = {.length = 0};

	if (ring0 == TICKS_IF_COUNTED && ring3 == TICKS_IF_COUNTED)
		meaning = INSTRUCTIONS;
	else if ((uint32_t)boot[LAB_BOOT_SIGNATURE] == NAME_TCG || verdict.is_emulated)
		meaning = NOTHING;
	line_text(&line, "the same loop took ");
	line_number(&line, ring0, 10);
	line_text(&line, " ticks in ring 0 and ");
	line_number(&line, ring3, 10);
	line_text(&line, meanings[meaning]);
	put(&line, CONSOLE_TEXT);
	if (meaning == TIME && verdict.trapped)
		put_trapped(verdict.trapped, boot[LAB_BOOT_SIGNS] >> SIGN_HYPERVISOR & 1);
	put_frequency(boot[LAB_BOOT_TSC_HZ]);
	put_processors(boot[LAB_BOOT_PROCESSORS]);
	line_text(&line, "entry");
	line_blank_to(&line, OPERATION_COLUMN);
	line_text(&line, "operation");
	line_blank_to(&line, TICKS_COLUMN);
	line_text(&line, meaning == INSTRUCTIONS ? "instructions" : "ticks");
	line_blank_to(&line, CYCLES_COLUMN);
	line_text(&line, "core cycles");
	put(&line, HEADING_TABLE);
}

/* What is not as by default: there are too many switches for a line of the screen. */
static void put_changes(struct line_buffer *line)
{
	int changes = 0;

	line_text(line, "--");
#define ROW(id_, name_, index_, value_, default_)                                                            \
	if (id_ != SWITCH_GATE && id_ != SWITCH_OBSERVE && configured[id_] == index_ && !(default_)) {       \
		line_text(line, " " name_ "=" value_);                                                       \
		changes++;                                                                                   \
	}
	SWITCH_VALUES(ROW)
#undef ROW
#define ROW(id_, name_, least_, most_, default_)                                                             \
	if (configured[id_] != (default_)) {                                                                 \
		line_text(line, " " name_ "=");                                                              \
		line_number(line, configured[id_], 10);                                                      \
		changes++;                                                                                   \
	}
	SWITCH_NUMBERS(ROW)
#undef ROW
	line_text(line, changes ? ", otherwise the defaults" : " the defaults");
}

static void put_configuration(void)
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
	put_changes(&line);
	put(&line, HEADING_CONFIGURATION);
	counters_due = 1;
}

/* How many core cycles are in CLOCK_TICKS ticks, by two counters that stand still while the processor is halted. */
static int counted_clock(uint64_t *clock)
{
	static const unsigned pairs[][2] = {{COUNTER_CYCLES, COUNTER_REFERENCE},
					    {COUNTER_APERF, COUNTER_MPERF}};
	uint64_t cycles, ticks;

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (counters_value(pairs[i][0], &cycles) && counters_value(pairs[i][1], &ticks) && ticks) {
			*clock = (cycles * CLOCK_TICKS + ticks / 2) / ticks;
			return 1;
		}
	return 0;
}

/* Once for each configuration: a register that changes what entries cost, and the clock by two independent ways. */
static void put_counters(struct figures figures)
{
	struct line_buffer line = {.length = 0};
	uint64_t value;

	if (counters_value(COUNTER_SPEC_CTRL, &value)) {
		line_text(&line, "   SPEC_CTRL 0x");
		line_number(&line, value, 16);
		put(&line, CONSOLE_TEXT);
	}
	if (figures.has_cycles && counted_clock(&value)) {
		line_text(&line, "   core cycles in ");
		line_number(&line, CLOCK_TICKS, 10);
		line_text(&line, " ticks: ");
		line_number(&line, value, 10);
		line_text(&line, " by counters, ");
		line_number(&line, figures.clock, 10);
		line_text(&line, " by the clock chain");
		put(&line, CONSOLE_TEXT);
	}
	counters_due = 0;
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

static void put_figures(struct line_buffer *line, struct figures figures)
{
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

static void put_row(const char *const *arguments, struct end end)
{
	struct line_buffer line = {.length = 0};
	const uint64_t outcome = reading_take(&reading, collected, collected_bytes);
	const int has_figures = end.how == LAB_END_EXITED && outcome == OUTCOME_OK && reading.samples.count;
	const int is_observed = configured[SWITCH_OBSERVE] == OBSERVE_ON;
	const struct figures figures = has_figures ? reading_figures(&reading) : (struct figures){0};

	if (has_figures && counters_due && meaning == TIME && !is_observed)
		put_counters(figures);
	line_text(&line, name_of(number_of(arguments[REQUEST_ENTRY]), 1));
	line_blank_to(&line, OPERATION_COLUMN);
	if (is_observed) {
		put_observed(&line, end);
		return;
	}
	line_text(&line, name_of(number_of(arguments[REQUEST_OPERATION]), 0));
	line_blank_to(&line, TICKS_COLUMN);
	if (has_figures)
		put_figures(&line, figures);
	else
		put_outcome(&line, outcome, end);
	put(&line, CONSOLE_TEXT);
}

static void put_firmware(uint64_t interrupts)
{
	struct line_buffer line = {.length = 0};

	line_text(&line, "   system management interrupts in all ");
	line_number(&line, MOST_RUNS, 10);
	line_text(&line, " runs of this row; in the last: ");
	line_number(&line, interrupts, 10);
	put(&line, CONSOLE_TEXT);
}

struct end table_run(const struct start *start, struct end (*run)(const struct start *))
{
	uint64_t interrupts = 0;
	struct end end;

	for (unsigned runs = 0; runs < MOST_RUNS; runs++) {
		collected_bytes = 0;
		end = run(start);
		if (!counters_value(COUNTER_SMI, &interrupts))
			interrupts = 0;
		if (!interrupts)
			break;
	}
	put_configuration();
	/* A probe that only describes the vDSO has no row. */
	if (start->argument_count <= REQUEST_OPERATION)
		return end;
	put_row(start->arguments, end);
	if (interrupts)
		put_firmware(interrupts);
	return end;
}

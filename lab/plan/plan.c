/* Reads the plan, a line at a time, and does what it says (abi/lab.h). */
#include "cpu/counters.h"
#include "cpu/mode.h"
#include "entry/entry.h"
#include "entry/rings.h"
#include "entry/steps/steps.h"
#include "mach/start.h"
#include "mm/mm.h"
#include "mm/tlb.h"
#include "plan/plan.h"
#include "plan/table.h"
#include "plan/words.h"
#include "ring.h"
#include "serial/console.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/tick.h"
#include "user/thread.h"
#include "user/user.h"

#define MAX_ARGUMENTS  4096
#define ARGUMENT_BYTES (2ul << 20) /* start.c takes no more */
/* How many ticks there are in the time that a program may run. */
#define TICK_PART      16
#define TICK_DEFAULT   10000000

static struct {
	struct text archive;
	configuration wanted;
	configuration defaults; /* what they were at boot */
	unsigned problem;	/* SWITCH_* that this CPU cannot do */
	struct plan_header header;
	uint64_t seed; /* of programs' addresses and random bytes */
	struct text rest;
	uint64_t number, line;
} plan;

/* The arguments of the program that runs, decoded. */
static const char *arguments[MAX_ARGUMENTS];
static char argument_bytes[ARGUMENT_BYTES];

static void report_end(struct end end)
{
	const uint64_t payload[] = {plan.number,   end.how,	  end.detail[0],
				    end.detail[1], end.detail[2], end.detail[3]};

	strays_report();
	record(RECORD_LAB_END, payload, sizeof(payload));
	plan.number++;
}

static int set_switch(struct text word)
{
	uint64_t number;

#define ROW(id_, name_, index_, value_, default_)                                                            \
	if (word_is(word, name_ "=" value_)) {                                                               \
		plan.wanted[id_] = index_;                                                                   \
		return 1;                                                                                    \
	}                                                                                                    \
	if (default_ && word_is(word, name_ "=default")) {                                                   \
		plan.wanted[id_] = plan.defaults[id_];                                                       \
		return 1;                                                                                    \
	}
	SWITCH_VALUES(ROW)
#undef ROW
#define ROW(id_, name_, least_, most_, default_)                                                             \
	if (word_is(word, name_ "=default")) {                                                               \
		plan.wanted[id_] = plan.defaults[id_];                                                       \
		return 1;                                                                                    \
	}                                                                                                    \
	if (word_begins(&word, name_ "=")) {                                                                 \
		if (!word_number(word, &number) || number - (least_) > (most_) - (least_))                   \
			return 0;                                                                            \
		plan.wanted[id_] = (uint32_t)number;                                                         \
		return 1;                                                                                    \
	}
	SWITCH_NUMBERS(ROW)
#undef ROW
	return 0;
}

/* A default that this CPU cannot do is the first value instead. */
static void set_defaults(void)
{
#define ROW(id_, name_, index_, value_, default_)                                                            \
	if (default_)                                                                                        \
		plan.wanted[id_] = index_;
	SWITCH_VALUES(ROW)
#undef ROW
#define ROW(id_, name_, least_, most_, default_) plan.wanted[id_] = default_;
	SWITCH_NUMBERS(ROW)
#undef ROW
#define ROW(id_, values_, feature_, is_harmless_)                                                            \
	if (!cpu_has(feature_) && plan.wanted[id_] < 32 && (values_) >> plan.wanted[id_] & 1)                \
		plan.wanted[id_] = 0;
	SWITCH_NEEDS(ROW)
#undef ROW
	__builtin_memcpy(plan.defaults, plan.wanted, sizeof(plan.defaults));
}

_Static_assert(SWITCH_COUNT <= MOST_SWITCHES + 1, "a configuration is one record");

/* What the command believes: nothing but this tells which value a default has here. */
static void report_configuration(void)
{
	uint64_t payload[SWITCH_COUNT];

	for (unsigned id = 0; id < SWITCH_COUNT; id++)
		payload[id] = plan.wanted[id];
	record(RECORD_LAB_CONFIGURED, payload, sizeof(payload));
}

static void configure(void)
{
	plan.problem = paths_configure(plan.wanted);
	report_configuration();
}

static int do_set(struct line *line)
{
	struct text word;

	while (line_next_word(line, &word))
		if (!set_switch(word))
			return 0;
	configure();
	return 1;
}

static int do_layout(struct line *line)
{
	uint64_t drawn_from;

	/* Programs that wait to run beside another have their pages and addresses already. */
	if (!line_next_number(line, &drawn_from) || threads_count())
		return 0;
	paths_set_layout(drawn_from);
	cache_forget();
	pages_set_layout(drawn_from);
	threads_set_layout(drawn_from);
	plan.seed = drawn_from ? ~drawn_from : plan.header.seed;
	plan.problem = paths_configure(plan.wanted);
	return 1;
}

/* Decodes FILE and its arguments. Returns their number; 0 when there are none or one cannot be decoded; or -E2BIG. */
static int gather(struct line *line)
{
	int count = 0;
	uint64_t used = 0;
	struct text word;

	while (line_next_word(line, &word)) {
		const uint64_t bytes = word_decode(word, argument_bytes + used, ARGUMENT_BYTES - used);
		if (bytes == WORD_BROKEN)
			return 0;
		if (!bytes || count == MAX_ARGUMENTS)
			return -E2BIG;
		arguments[count++] = plan.wanted[SWITCH_PERSONALITY] == PERSONALITY_MACH
					 ? mach_argument(argument_bytes + used)
					 : argument_bytes + used;
		used += bytes;
	}
	return count;
}

/* What is drawn from here on is the same for every program, whatever ran before it. */
static void seed_draws(void)
{
	random_seed(plan.seed);
	stack_offset_seed(plan.seed);
}

/* A row of an image's table may run again, and then finds what it found before. */
static struct end run_program(const struct start *start)
{
	seed_draws();
	const struct end end = program_run(start);
	programs_end();
	return end;
}

/* FILE ARGUMENT ...: 0 when the line is not understood, 1, or -E2BIG. */
static int gather_start(struct line *line, struct start *start)
{
	const int count = gather(line);

	if (count <= 0)
		return count;
	start->arguments = arguments;
	start->argument_count = (unsigned)count;
	start->file = archive_find(plan.archive, arguments[0]);
	start->input = archive_find(plan.archive, "stdin");
	return 1;
}

static int do_beside(struct line *line)
{
	struct start start = {.serve = 1};

	if (gather_start(line, &start) <= 0)
		return 0;
	seed_draws();
	program_beside(&start);
	return 1;
}

static struct end run(const struct start *start, int gathered)
{
	if (gathered < 0)
		return (struct end){LAB_END_NOT_LOADED, {(uint64_t)-gathered}};
	if (plan.problem)
		return (struct end){LAB_END_UNSUPPORTED, {plan.problem}};
	if (!start->file.bytes)
		return (struct end){LAB_END_NOT_LOADED, {ENOENT}};
	const struct end end = console_is_open() ? table_run(start, run_program) : run_program(start);
	counters_report(plan.number);
	return end;
}

static int do_run(struct line *line, int serve)
{
	struct start start = {.serve = serve};
	const int gathered = gather_start(line, &start);

	if (!gathered)
		return 0;
	record(RECORD_LAB_BEGIN, &plan.number, sizeof(plan.number));
	TLB_NOTE(TLB_PROGRAM, plan.number, 0);
	report_end(run(&start, gathered));
	programs_end();
	return 1;
}

static int do_check(struct line *line)
{
	struct text word;
	struct end end = {LAB_END_CHECKED, {0}};

	record(RECORD_LAB_BEGIN, &plan.number, sizeof(plan.number));
	/* Checks end all address spaces; programs that wait beside have theirs. */
	if (!line_next_word(line, &word) || threads_count())
		return 0;
	if (word_is(word, "pti")) {
		tables_check_isolation(&end.detail[1], &end.detail[2]);
		end.detail[3] = (uint64_t)tables_are_blind();
		end.detail[0] = end.detail[1] != 0 && end.detail[2] == 0 && end.detail[3];
	} else if (word_is(word, "smep")) {
		end.detail[0] = (uint64_t)smep_refuses();
	} else if (word_is(word, "ring1")) {
		end.detail[0] = (uint64_t)driver_tries(&end.detail[1]);
	} else if (word_is(word, "trace")) {
		end.detail[1] = trace_show();
		end.detail[0] = end.detail[1] != 0;
	} else if (word_is(word, "audit")) {
		end.detail[1] = audit_show();
		end.detail[0] = end.detail[1] != 0;
	} else {
		return 0;
	}
	report_end(end);
	return 1;
}

static void report_step(const char *name, word place, word address, const uint8_t *code, word bytes)
{
	uint64_t head[3] = {place, address, bytes};
	static uint8_t payload[sizeof(head) + PATH_SLOT + STEP_NAME];
	const uint64_t letters = __builtin_strlen(name);

	__builtin_memcpy(payload, head, sizeof(head));
	__builtin_memcpy(payload + sizeof(head), code, bytes);
	__builtin_memcpy(payload + sizeof(head) + bytes, name, letters);
	record(RECORD_LAB_STEP, payload, sizeof(head) + bytes + letters);
}

static int do_listing(struct line *line)
{
	struct text name;

	if (!line_next_word(line, &name))
		return 0;
	record(RECORD_LAB_BEGIN, &plan.number, sizeof(plan.number));
	if (plan.problem)
		report_end((struct end){LAB_END_UNSUPPORTED, {plan.problem}});
	else if (path_list_steps(name, report_step))
		report_end((struct end){LAB_END_CHECKED, {1}});
	else
		report_end((struct end){LAB_END_NOT_LOADED, {ENOENT}});
	return 1;
}

static void set_tick(uint64_t period)
{
	tick_set(period);
	clock_set_resolution(period);
}

static int do_limit(struct line *line)
{
	uint64_t ticks;

	if (!line_next_number(line, &ticks))
		return 0;
	ticks = ring_slowed(ticks);
	program_set_limit(ticks);
	set_tick(ticks ? ticks / TICK_PART + 1 : TICK_DEFAULT);
	return 1;
}

static int is_for_this_kernel(struct line *line)
{
	struct text name;

	if (!line_next_word(line, &name))
		return 0;
	if (!word_is(name, MODE_KERNEL))
		panic("the plan is for another of the lab's kernels; this is " MODE_KERNEL);
	return 1;
}

/* The lines that come before all others. */
static int do_header(struct line *line, struct text verb)
{
	uint64_t version;

	if (word_is(verb, "lab"))
		return line_next_number(line, &version) && version == LAB_VERSION;
	if (word_is(verb, "kernel"))
		return is_for_this_kernel(line);
	if (word_is(verb, "seed"))
		return line_next_number(line, &plan.header.seed);
	if (word_is(verb, "time"))
		return line_next_number(line, &plan.header.seconds);
	if (word_is(verb, "screen")) {
		plan.header.screen = 1;
		return 1;
	}
	return word_is(verb, "tsc") && line_next_number(line, &plan.header.hertz);
}

static int do_harmless(void)
{
	paths_allow_harmless();
	plan.problem = paths_configure(plan.wanted);
	return 1;
}

static int do_step(struct line *line, struct text verb)
{
	if (word_is(verb, "limit"))
		return do_limit(line);
	if (word_is(verb, "set"))
		return do_set(line);
	if (word_is(verb, "run"))
		return do_run(line, 1);
	if (word_is(verb, "exec"))
		return do_run(line, 0);
	if (word_is(verb, "beside"))
		return do_beside(line);
	if (word_is(verb, "check"))
		return do_check(line);
	if (word_is(verb, "layout"))
		return do_layout(line);
	if (word_is(verb, "listing"))
		return do_listing(line);
	if (word_is(verb, "harmless"))
		return do_harmless();
	return 0;
}

static int next_line(struct line *line)
{
	if (!plan.rest.count)
		return 0;
	*line = (struct line){plan.rest.bytes, plan.rest.bytes, 0};
	while (plan.rest.count && *line->end != '\n') {
		line->end++;
		plan.rest.count--;
	}
	plan.rest.bytes = line->end + 1;
	plan.rest.count -= plan.rest.count != 0;
	plan.line++;
	return 1;
}

static void not_understood(void)
{
	log_line("line %" U64 " of the plan is not understood", plan.line);
	report_end((struct end){LAB_END_PLAN, {plan.line}});
}

struct plan_header plan_open(struct text archive)
{
	struct line line;
	struct text verb;

	plan.archive = archive;
	plan.rest = archive_find(archive, "plan");
	/* The plan is the first file; its length differs from boot to boot. */
	cache_begin(plan.rest.bytes + align_up(plan.rest.count, ARCHIVE_BLOCK));
	for (;;) {
		const struct text before = plan.rest;
		if (!next_line(&line) || !line_next_word(&line, &verb) || !do_header(&line, verb)) {
			plan.rest = before;
			break;
		}
	}
	plan.line -= plan.rest.count != 0;
	return plan.header;
}

void plan_run(void)
{
	struct line line;
	struct text verb;

	plan.seed = plan.header.seed;
	set_defaults();
	configure();
	set_tick(TICK_DEFAULT);
	while (next_line(&line))
		if (line_next_word(&line, &verb) && verb.count && !do_step(&line, verb)) {
			not_understood();
			return;
		}
}

/*
 * The probe: measures one entry and operation, as argv asks (request.h), and writes what it found (record.h). Loops
 * (MODE_LOOP) take the place of samples and bursts in a run that reproduces somebody else's measurement.
 *
 *	prepare		find the function, map the page, install the handler
 *	check		use the entry; compare answer and registers
 *	order		test whether a stamp waits for what stands before it
 *	sample		blocks of samples, a canary before each and after the last
 *	burst		calls back to back, and a canary
 *	emit		only now is anything written
 */
#include "lab.h"
#include "probe.h"

#define ROW(id_, symbol_, kind_, abi_, preserved_) {id_, kind_, abi_, preserved_},
static const struct entry entries[] = {ENTRIES(ROW)};
#undef ROW

#define ROW(id_, symbol_, calls_, form_)                                                                     \
	void symbol_##_timed(struct sample *, unsigned long);                                                \
	void symbol_##_among(struct sample *, unsigned long);                                                \
	void symbol_##_burst(struct sample *);                                                               \
	void symbol_##_loop(struct sample *, unsigned long);                                                 \
	void symbol_##_checked(void);
ROUTINES(ROW)
#undef ROW

#define ROW(id_, symbol_, calls_, form_)                                                                     \
	{id_,                                                                                                \
	 calls_,                                                                                             \
	 form_,                                                                                              \
	 symbol_##_timed,                                                                                    \
	 symbol_##_among,                                                                                    \
	 symbol_##_burst,                                                                                    \
	 symbol_##_loop,                                                                                     \
	 symbol_##_checked},
static const struct routines routines[] = {ROUTINES(ROW)};
#undef ROW

#define ROW(id_, symbol_) void symbol_##_serve(void);
SERVERS(ROW)
#undef ROW

#define ROW(id_, symbol_) {id_, symbol_##_serve},
static const struct server servers[] = {SERVERS(ROW){0}}; /* ends with an entry that there is not */
#undef ROW

#define ROW(id_, symbol_, uses_) void symbol_##_several(struct sample *, unsigned long);
SEVERAL(ROW)
#undef ROW

#define ROW(id_, symbol_, uses_) {id_, uses_, symbol_##_several},
static const struct several several[] = {SEVERAL(ROW){0}}; /* ends with an entry that there is not */
#undef ROW

#define ROW(id_, x86_64_, i386_, function_, clock_, offset_, calls_, form_, server_, thread_, bytes_,        \
	    right_, nops_)                                                                                   \
	{id_,	x86_64_, i386_,	  function_, clock_, offset_, calls_,                                        \
	 form_, server_, thread_, bytes_,    right_, nops_},
static const struct operation operations[] = {OPERATIONS(ROW)};
#undef ROW

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct canary {
	uint64_t stamps[5], cpu, preemptions;
};

static struct sample samples[MAX_BLOCKS * BLOCK_SAMPLES];
static struct canary canaries[MAX_BLOCKS + 2];
static struct sample bursts[MAX_BURSTS];
static struct sample orders[ORDER_SAMPLES];

static _Noreturn void refuse_request(unsigned argument)
{
	emit_refusal(OUTCOME_ERROR, CAUSE_REQUEST, argument, 0, 0, 0);
}

static unsigned long parse(char **argv, unsigned argument, unsigned long most)
{
	const char *digit = argv[argument];
	unsigned long value = 0;

	if (!*digit)
		refuse_request(argument);
	for (; *digit; digit++) {
		const unsigned long unit = (unsigned long)*digit - '0';

		if (*digit < '0' || *digit > '9' || value > (~0ul - unit) / 10)
			refuse_request(argument);
		value = value * 10 + unit;
	}
	if (value > most)
		refuse_request(argument);
	return value;
}

static const struct routines *routines_of(unsigned long entry, unsigned calls, unsigned form)
{
	for (unsigned i = 0; i < COUNT(routines); i++)
		if (routines[i].entry == entry && routines[i].calls == calls && routines[i].form == form)
			return sixteen_routines(&routines[i]);
	return 0;
}

static void (*serve_by(unsigned long entry))(void)
{
	for (const struct server *by = servers; by->entry; by++)
		if (by->entry == entry)
			return by->serve;
	return 0;
}

/* What every request but that of a description has. */
static void parse_names(struct request *request, char **argv)
{
	const unsigned long entry = parse(argv, REQUEST_ENTRY, UINT16_MAX);
	const unsigned long operation = parse(argv, REQUEST_OPERATION, UINT16_MAX);

	emit_identity((uint16_t)entry, (uint16_t)operation);
	for (unsigned i = 0; i < COUNT(entries); i++)
		if (entries[i].id == entry)
			request->entry = &entries[i];
	for (unsigned i = 0; i < COUNT(operations); i++)
		if (operations[i].id == operation)
			request->operation = &operations[i];
	if (!request->entry)
		refuse_request(REQUEST_ENTRY);
	if (!request->operation)
		refuse_request(REQUEST_OPERATION);
	/* What is more than the entry's instruction is a function, and is timed by the code of the row that calls one. */
	const unsigned long timed_by =
	    is_by_function(request->operation) && request->entry->kind == KIND_NUMBER ? ENTRY_CALL : entry;
	request->routines = routines_of(timed_by, request->operation->calls, request->operation->form);
	/* The entry serves no operation of so many calls, or no trap. */
	if (!request->routines)
		refuse_request(REQUEST_OPERATION);
	request->serve = serve_by(entry);
}

static void parse_row(struct request *request, char **argv)
{
	parse_names(request, argv);
	request->parent = parse(argv, REQUEST_PARENT, ~0ul);
	request->cpu = parse(argv, REQUEST_CPU, ~0ul);
}

/* The server makes its traps by the same entry, and writes the headers of its messages itself. Records are its client's alone to write. */
static _Noreturn void serve(struct request *request, char **argv)
{
	emit_nothing();
	parse_names(request, argv);
	if (!request->serve)
		refuse_request(REQUEST_ENTRY);
	request->serves = 1;
	target_prepare(request);
	mach_serve(request);
}

/* What takes the samples; none if there is nothing that takes such ones. */
static timed_code *timed_by(const struct request *request)
{
	if (request->uses == 1)
		return has_footprint(request) ? request->routines->among : request->routines->timed;
	for (const struct several *of = several; of->entry; of++)
		if (of->entry == request->entry->id && of->uses == request->uses &&
		    request->routines->calls == 1 && !has_footprint(request))
			return of->timed;
	return 0;
}

static void parse_request(struct request *request, char **argv)
{
	parse_row(request, argv);
	request->blocks = parse(argv, REQUEST_BLOCKS, MAX_BLOCKS);
	request->ticks = parse(argv, REQUEST_TICKS, ~0ul);
	request->bursts = parse(argv, REQUEST_BURSTS, MAX_BURSTS);
	request->path = parse(argv, REQUEST_PATH, 1);
	request->samples = parse(argv, REQUEST_SAMPLES, BLOCK_SAMPLES);
	if (!request->samples)
		refuse_request(REQUEST_SAMPLES);
	request->pages = parse(argv, REQUEST_PAGES, MAX_PAGES);
	request->lines = parse(argv, REQUEST_LINES, MAX_LINES);
	/* Calls back to back have nothing between them. */
	if (has_footprint(request) && request->bursts)
		refuse_request(REQUEST_BURSTS);
	request->uses = parse(argv, REQUEST_USES, MAX_USES);
	if (!timed_by(request))
		refuse_request(REQUEST_USES);
}

static void parse_loop(struct request *request, char **argv)
{
	parse_row(request, argv);
	request->calls = parse(argv, REQUEST_CALLS, MAX_CALLS);
	request->repetitions = parse(argv, REQUEST_REPETITIONS, MAX_REPETITIONS);
	request->clock = parse(argv, REQUEST_CLOCK, LOOP_CLOCK_SYSTEM);
	/* Each use of a minor fault needs a fresh page; a loop has none to give. */
	if (request->operation->id == OPERATION_MINOR_FAULT)
		refuse_request(REQUEST_OPERATION);
	if (!request->calls)
		refuse_request(REQUEST_CALLS);
	if (!request->repetitions)
		refuse_request(REQUEST_REPETITIONS);
	if (!request->clock)
		refuse_request(REQUEST_CLOCK);
}

void (*canary_place)(void);

/* Draws where the canary stands, by the low digits of the counter, and says which place it is. */
static void draw_canary(void)
{
	const uint64_t hash = tsc() * 0x9e3779b97f4a7c15u;
	const uint64_t place = hash >> 32 & (CANARY_PLACES - 1);

	_Static_assert(!(CANARY_PLACES & (CANARY_PLACES - 1)), "a power of two");
	canary_place = canary_places[place];
	emit_fact(FACT_CANARY, place);
}

/* The first canary brings its code back into the caches, which a virtual machine's exits empty. */
static void take_canary(struct canary *canary)
{
	canary->cpu = cpu_now();
	canary->preemptions = usage_now().preemptions;
	calibrate(canary->stamps);
	calibrate(canary->stamps);
}

/* Returns the number taken: no more than samples of the entry, of which there are few where a counter is exact. */
static unsigned long take_order(const struct request *request)
{
	const unsigned long most = request->blocks * request->samples;
	const unsigned long count = most < ORDER_SAMPLES ? most : ORDER_SAMPLES;

	order(&orders[0]); /* once for the caches */
	for (unsigned long i = 0; i < count; i++)
		order(&orders[i]);
	return count;
}

/* Returns the number of blocks taken: at least one, then as many as the ticks allow. */
static unsigned long sample(const struct request *request)
{
	timed_code *const timed = timed_by(request);
	unsigned long block = 0;

	/* Touches the buffer's pages before anything is timed; then uses the entry, for the caches. */
	for (unsigned long i = 0; i < request->blocks * request->samples; i += 16)
		samples[i].stamp[0] = 1;
	target_refresh(request);
	timed(samples, request->samples);

	const uint64_t start = tsc();
	do {
		struct sample *out = &samples[block * request->samples];

		target_refresh(request);
		take_canary(&canaries[block]);
		/* The canary makes the predictors forget the entry. These samples teach them, and are overwritten. */
		timed(out, WARM_SAMPLES);
		timed(out, request->samples);
		block++;
	} while (block < request->blocks && tsc() - start < request->ticks);
	take_canary(&canaries[block]);
	return block;
}

/* Returns the number of bursts taken: at least one, then as many as a quarter of the ticks allows. */
static unsigned long burst(const struct request *request)
{
	const uint64_t start = tsc();
	unsigned long taken = 0;

	while (taken < request->bursts && (!taken || tsc() - start < request->ticks >> 2)) {
		target_refresh(request);
		request->routines->burst(&bursts[taken++]);
	}
	return taken;
}

/* Every use of a minor fault must have been one, in warm-ups, samples and bursts. */
static void check_faults(const struct request *request, uint64_t blocks, uint64_t taken, uint64_t seen)
{
	const uint64_t samples_due = request->samples + blocks * (WARM_SAMPLES + request->samples);
	const uint64_t due = samples_due + taken * BURST;

	if (request->operation->id == OPERATION_MINOR_FAULT && seen < due)
		emit_refusal(OUTCOME_MISMATCH, CAUSE_NO_FAULT, due, seen, 0, 0);
}

/* From here on the entry can be used, and answers rightly. */
static void prepare(const struct request *request)
{
	faults_report();
	operation_prepare(request);
	target_prepare(request);
	operation_check(request);
}

static void emit_ok(void)
{
	const uint64_t outcome[6] = {OUTCOME_OK, CAUSE_NONE};

	emit(RECORD_OUTCOME, outcome, sizeof(outcome));
}

/*
 * A function that was expected to stay in user space may enter the kernel all the same, as the vDSO's do where the clock is not the TSC. Its
 * cost is no few steps of the counter, and how single calls differ is worth knowing: then each sample has one.
 */
static void find_path(struct request *request)
{
	const uint64_t path = path_of(request);

	emit_fact(FACT_PATH, path);
	if (path == PATH_KERNEL)
		request->uses = 1;
}

static _Noreturn void measure(struct request *request)
{
	prepare(request);
	if (request->path)
		find_path(request);
	if (request->uses > 1)
		emit_fact(FACT_USES, request->uses);
	draw_canary();

	if (has_footprint(request))
		footprint_prepare(request);
	const unsigned long ordered = take_order(request);
	const struct usage before = usage_now();
	const unsigned long blocks = sample(request);
	const unsigned long taken = burst(request);
	take_canary(&canaries[blocks + 1]);
	const struct usage after = usage_now();
	check_faults(request, blocks, taken, after.minor_faults - before.minor_faults);
	operation_check_again(request);

	emit_ok();
	emit(RECORD_ORDER, orders, (uint32_t)(ordered * sizeof(orders[0])));
	for (unsigned long i = 0; i < blocks; i++) {
		emit(RECORD_CANARY, &canaries[i], sizeof(canaries[i]));
		emit(RECORD_SAMPLES, &samples[i * request->samples],
		     (uint32_t)(request->samples * sizeof(samples[0])));
	}
	emit(RECORD_CANARY, &canaries[blocks], sizeof(canaries[blocks]));
	emit(RECORD_BURSTS, bursts, (uint32_t)(taken * sizeof(bursts[0])));
	emit(RECORD_CANARY, &canaries[blocks + 1], sizeof(canaries[0]));
	emit_end((struct usage){
	    .preemptions = after.preemptions - before.preemptions,
	    .minor_faults = after.minor_faults - before.minor_faults,
	});
}

static _Noreturn void loop(const struct request *request)
{
	prepare(request);
	const struct usage before = usage_now();
	loop_measure(request);
	const struct usage after = usage_now();
	operation_check_again(request);
	emit_ok();
	loop_emit(request);
	emit_end((struct usage){
	    .preemptions = after.preemptions - before.preemptions,
	    .minor_faults = after.minor_faults - before.minor_faults,
	});
}

static _Noreturn void describe(void)
{
	emit_identity(0, 0);
	vdso_list();
#ifdef __x86_64__
	faults_report();
	/* In the lab a switch decides it; and finding out takes signals, which the lab does not have. */
	if (!auxv(AT_LAB))
		emit_fact(FACT_VSYSCALL, (uint64_t)vsyscall_mode());
#endif
	emit_end((struct usage){0});
}

_Noreturn void probe_main(const unsigned long *stack);

_Noreturn void probe_main(const unsigned long *stack)
{
	const unsigned long argc = stack[0];
	char **argv = (char **)(stack + 1);
	static struct request request;
	const uint64_t begin[] = {8 * sizeof(long), IMULS, XORS, NOTS, BURST, CHAINS};

	if (argc == 2 && argv[REQUEST_MODE][0] == '0' + MODE_EXIT && !argv[REQUEST_MODE][1])
		system_call(NR_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
	emit_identity(0, 0);
	auxv_find(stack);
	if (argc == 2 && parse(argv, REQUEST_MODE, MODE_DESCRIBE) == MODE_DESCRIBE)
		describe();
	if (argc == REQUEST_LOOP_ARGUMENTS && parse(argv, REQUEST_MODE, MODE_LOOP) == MODE_LOOP) {
		parse_loop(&request, argv);
		loop(&request);
	}
	if (argc == REQUEST_SERVE_ARGUMENTS && parse(argv, REQUEST_MODE, MODE_SERVE) == MODE_SERVE)
		serve(&request, argv);
	if (argc != REQUEST_ARGUMENTS || parse(argv, REQUEST_MODE, MODE_MEASURE) != MODE_MEASURE)
		refuse_request(REQUEST_MODE);
	parse_request(&request, argv);
	emit(RECORD_BEGIN, begin, sizeof(begin));
	measure(&request);
}

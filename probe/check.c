/* Checks that an answer is right, and that every register that the ABI preserves came back unchanged. An entry that
 * fails a check is not timed. */
#include "lab.h"
#include "probe.h"

#include <linux/time.h>

#define TRIES  3 /* a clock may be set while it is being compared */
#define ENOSYS 38

#define RFLAGS_CF 0x1
#define RFLAGS_DF 0x400

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aull

/* Is it a system call? The lab serves an exception as one, unless the operation is a signal or a minor fault. */
static int is_call(const struct request *request)
{
	if (request->entry->kind == KIND_EXCEPTION)
		return request->operation->id != OPERATION_SIGNAL &&
		       request->operation->id != OPERATION_MINOR_FAULT;
	return request->entry->kind == KIND_NUMBER;
}

/* Seconds and fractions are 32 bits wide for i386 call numbers, even in 64-bit code, and in 32-bit functions.
 */
static int is_wide(const struct request *request)
{
	if (request->operation->id == OPERATION_CLOCK_GETTIME64_MONOTONIC)
		return 1;
	return is_call(request) ? request->entry->abi != ABI_I386 : sizeof(long) == 8;
}

/* The clock that the answer must agree with. */
static uint32_t reference_clock(const struct operation *operation)
{
	switch (operation->id) {
	case OPERATION_GETTIMEOFDAY:
		return CLOCK_REALTIME;
	case OPERATION_TIME:
		return CLOCK_REALTIME_COARSE; /* time() is the second of the last tick */
	case OPERATION_MAPPED_TIME:
		return CLOCK_REALTIME_COARSE; /* and GNU Mach's page has the time of the last tick */
	default:
		return operation->clock;
	}
}

static _Noreturn void wrong(uint64_t got, uint64_t least, uint64_t most)
{
	emit_refusal(OUTCOME_MISMATCH, CAUSE_ANSWER, got, least, most, 0);
}

/* A system call's error is an outcome of its own: -errno in the result register. */
static void refuse_errors(const struct request *request, long result)
{
	const int has_errors = is_call(request) || request->entry->kind == KIND_FUNCTION;

	if (has_errors && result < 0 && result >= -4095)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-result, 0, 0, 0);
}

/* The answer in nanoseconds, and its resolution, in nanoseconds too: the kernel rounds down to a multiple of that. */
static uint64_t answered_time(const struct request *request, uint64_t *resolution)
{
	const uint64_t seconds =
	    is_wide(request) ? (uint64_t)answer.wide.seconds : (uint32_t)answer.narrow.seconds;
	const uint64_t fraction =
	    is_wide(request) ? (uint64_t)answer.wide.fraction : (uint32_t)answer.narrow.fraction;

	switch (request->operation->id) {
	case OPERATION_TIME:
		*resolution = 1000000000;
		return seconds * 1000000000;
	case OPERATION_MAPPED_TIME: /* when a program begins, the page is a little older than the coarse clock */
		*resolution = 10000000;
		return seconds * 1000000000 + fraction * 1000;
	case OPERATION_GETTIMEOFDAY:
		*resolution = 1000;
		return seconds * 1000000000 + fraction * 1000;
	default:
		*resolution = 1;
		return seconds * 1000000000 + fraction;
	}
}

/* Does the time lie between two readings of the same clock by the base ABI? */
static int time_is_right(const struct request *request, uint64_t before, uint64_t after)
{
	uint64_t resolution;
	const uint64_t got = answered_time(request, &resolution);

	return got + resolution > before && got <= after;
}

/* What the kernel states as a clock's resolution does not depend on the way in which it is asked. */
static void check_resolution(const struct request *request)
{
	uint64_t unit;
	const uint64_t got = answered_time(request, &unit);
	const uint64_t due = reference_resolution(request->operation->clock);

	if (got != due)
		wrong(got, due, due);
}

/* The process id that getppid must answer. */
static unsigned long due_parent(const struct request *request)
{
	return request->parent == REQUEST_ASK ? reference_parent() : request->parent;
}

/* Is it the CPU that getcpu must answer? Asked for again where nobody named one: this process may just have moved. */
static int is_due_cpu(const struct request *request, unsigned long cpu)
{
	return cpu == (request->cpu == REQUEST_ASK ? reference_cpu() : request->cpu);
}

/* A CPU that is not the one that was due. */
static void check_cpu(const struct request *request, unsigned long cpu)
{
	static int moves;

	if (is_due_cpu(request, cpu) || (request->cpu == REQUEST_ASK && moves++ < TRIES))
		return;
	wrong(cpu, request->cpu == REQUEST_ASK ? reference_cpu() : request->cpu, request->cpu);
}

/* Each call of a loop of UnixBench answers what is known before. A C function returns an int, in the lower half. */
static void check_unixbench(const struct request *request)
{
	for (unsigned call = 0; call < request->operation->calls; call++) {
		const long result = (long)registers_after[call][REGISTER_RAX];
		const unsigned long due = unixbench_answer(request->operation, call);

		if (is_call(request))
			refuse_errors(request, result);
		if ((uint32_t)result != (uint32_t)due)
			wrong((uint64_t)result, due, due);
	}
}

/* A random number has come, and is not the one before: a generator that is stuck delivers one number for ever. */
static void check_random(int has_come, uint64_t number)
{
	static uint64_t earlier;

	if (!has_come || number == earlier)
		emit_refusal(OUTCOME_MISMATCH, CAUSE_NOT_RANDOM, has_come ? 2 : 0, number, 0, 0);
	earlier = number;
}

/* What the row `call` calls may have something to answer. */
static void check_call(const struct request *request, uint64_t result)
{
#ifdef __x86_64__
	if (request->entry->id == ENTRY_CALL && call_answer && result != call_answer)
		wrong(result, call_answer, call_answer);
#else
	(void)request;
	(void)result;
#endif
}

static void check_answer(const struct request *request, long result)
{
	switch (request->operation->id) {
	case OPERATION_NONE:
		if (is_call(request) && result != -ENOSYS) {
			refuse_errors(request, result);
			wrong((uint64_t)result, (uint64_t)-ENOSYS, (uint64_t)-ENOSYS);
		}
		check_call(request, (uint64_t)result);
		break;
	case OPERATION_GETPPID:
		refuse_errors(request, result);
		if ((unsigned long)result != due_parent(request))
			wrong((uint64_t)result, due_parent(request), due_parent(request));
		break;
	case OPERATION_GETCPU:
		refuse_errors(request, result);
		check_cpu(request, answer.cpu);
		break;
	case OPERATION_GETRANDOM:
		refuse_errors(request, result);
		if (result != SIXTEEN_BYTES)
			wrong((uint64_t)result, SIXTEEN_BYTES, SIXTEEN_BYTES);
		check_random(answer.words[0] != UNTOUCHED && answer.words[1] != UNTOUCHED, answer.words[0]);
		break;
	case OPERATION_READ_ZERO: /* one byte, and the device's */
		refuse_errors(request, result);
		if (result != 1 || !objects_byte_came())
			wrong((uint64_t)result, 1, 1);
		break;
	case OPERATION_TIME: /* it returns the time and stores it; check_time compares what was stored */
		refuse_errors(request, result);
		if ((uint32_t)result != (uint32_t)answer.words[0])
			wrong((uint64_t)result, answer.words[0], answer.words[0]);
		break;
	case OPERATION_UNIXBENCH_SYSCALL:
	case OPERATION_UNIXBENCH_CLOSE:
	case OPERATION_UNIXBENCH_GETPID:
		check_unixbench(request);
		break;
	case OPERATION_IO_URING_NOP_1:
	case OPERATION_IO_URING_NOP_4:
	case OPERATION_IO_URING_NOP_16:
	case OPERATION_IO_URING_NOP_64: /* how many completions there were */
		refuse_errors(request, result);
		if ((unsigned long)result != request->operation->nops)
			wrong((uint64_t)result, request->operation->nops, request->operation->nops);
		break;
	case OPERATION_UNIXBENCH_EXEC: /* the status of a child that was executed and ended as it was told */
		if (is_call(request))
			refuse_errors(request, result);
		if (result != 0)
			wrong((uint64_t)result, 0, 0);
		break;
	case OPERATION_CLOCK_GETRES_MONOTONIC:
		refuse_errors(request, result);
		if (result != 0)
			wrong((uint64_t)result, 0, 0);
		check_resolution(request);
		break;
	default: /* a time, which check_time compares; a futex that nobody waits for; or a trap of GNU Mach, and the message that came */
		refuse_errors(request, result);
		if (result != 0)
			wrong((uint64_t)result, 0, 0);
		if (request->operation->form == FORM_MESSAGE)
			mach_check(request);
	}
}

/* What a C function preserves (System V ABI, 3.2.1). */
#define PRESERVED_BY_FUNCTIONS                                                                               \
	(1u << REGISTER_RBX | 1u << REGISTER_RBP | 1u << REGISTER_RSP | 1u << REGISTER_R12 |                 \
	 1u << REGISTER_R13 | 1u << REGISTER_R14 | 1u << REGISTER_R15)

/* Bit per REGISTER_* that must come back unchanged. A call returns its result in rax; an exception returns none. */
static uint32_t preserved(const struct request *request)
{
	if (is_by_function(request->operation))
		return PRESERVED_BY_FUNCTIONS;
	return request->entry->preserved & ~(is_call(request) ? 1u << REGISTER_RAX : 0);
}

/* Both ABIs ask for a clear direction flag. Which general registers must be unchanged is in the table. */
static void check_registers_of(const struct request *request, const uint64_t *before, const uint64_t *after)
{
	if (after[REGISTER_FLAGS] & RFLAGS_DF)
		emit_refusal(OUTCOME_MISMATCH, CAUSE_REGISTER, REGISTER_FLAGS, before[REGISTER_FLAGS],
			     after[REGISTER_FLAGS], 0);
	for (unsigned i = 0; i < 16; i++)
		if (preserved(request) & 1u << i && before[i] != after[i])
			emit_refusal(OUTCOME_MISMATCH, CAUSE_REGISTER, i, before[i], after[i], 0);
}

static void check_registers(const struct request *request)
{
	for (unsigned call = 0; call < request->operation->calls; call++)
		check_registers_of(request, registers_before[call], registers_after[call]);
}

static int is_time(const struct operation *operation)
{
	if (operation->id == OPERATION_CLOCK_GETRES_MONOTONIC)
		return 0;
	return operation->clock != NO_CLOCK || operation->id == OPERATION_GETTIMEOFDAY ||
	       operation->id == OPERATION_TIME || operation->id == OPERATION_MAPPED_TIME;
}

/* Uses the entry once. Before, the place for the answer is filled with a value that no kernel would write. */
static void use_once(const struct request *request)
{
	answer.words[0] = UNTOUCHED;
	answer.words[1] = UNTOUCHED;
	request->routines->checked();
	check_answer(request, (long)registers_after[0][REGISTER_RAX]);
	check_registers(request);
}

static void check_time(const struct request *request)
{
	const uint32_t clock = reference_clock(request->operation);
	/* The page is also written when a program begins, which is behind the last tick. */
	const uint32_t latest = request->operation->id == OPERATION_MAPPED_TIME ? CLOCK_REALTIME : clock;

	for (int try = 1;; try++) {
		uint64_t resolution;
		const uint64_t before = reference_time(clock);
		use_once(request);
		const uint64_t after = reference_time(latest);

		if (time_is_right(request, before, after))
			return;
		if (try == TRIES)
			wrong(answered_time(request, &resolution), before, after);
	}
}

#define SPIN 2000000 /* nanoseconds; long beside the few hundred that reading a clock takes */

/* Does the perf clock advance like CLOCK_MONOTONIC_RAW, between the shortest and the longest that has passed? */
static int perf_clock_is_right(const struct request *request, uint64_t *gone, uint64_t *least, uint64_t *most)
{
	const uint64_t start = reference_time(CLOCK_MONOTONIC_RAW);
	request->routines->checked();
	const uint64_t started = reference_time(CLOCK_MONOTONIC_RAW),
		       first = registers_after[0][REGISTER_RAX];

	while (reference_time(CLOCK_MONOTONIC_RAW) - started < SPIN)
		;
	const uint64_t end = reference_time(CLOCK_MONOTONIC_RAW);
	request->routines->checked();
	*gone = registers_after[0][REGISTER_RAX] - first;
	*least = end - started;
	*most = reference_time(CLOCK_MONOTONIC_RAW) - start;
	/* One part in 64 for a clock that is slewed. */
	return *gone >= *least - (*least >> 6) && *gone <= *most + (*most >> 6);
}

/* No other clock tells what the perf clock should read, only how fast it should run. */
static void check_perf_clock(const struct request *request)
{
	uint64_t gone, least, most;

	for (int try = 1; !perf_clock_is_right(request, &gone, &least, &most); try++)
		if (try == TRIES)
			wrong(gone, least, most);
	check_registers(request);
}

/* A signal must reach the handler exactly once. A minor fault must not reach it, and the kernel must have counted it. */
static void check_exception(const struct request *request)
{
	const unsigned long expected = request->operation->id == OPERATION_SIGNAL;

	faults_skipped = 0;
	const struct usage before = usage_now();
	request->routines->checked();
	const struct usage after = usage_now();
	if (faults_skipped != expected)
		emit_refusal(OUTCOME_MISMATCH, CAUSE_NO_SIGNAL, expected, faults_skipped, 0, 0);
	if (!expected && after.minor_faults == before.minor_faults)
		emit_refusal(OUTCOME_MISMATCH, CAUSE_NO_FAULT, 1, 0, 0, 0);
	check_registers(request);
}

/*
 * The carry flag says whether there was a number. There may be none while other cores ask for theirs; who has asked ten times in a row
 * may take the generator for broken (Intel, Digital Random Number Generator Software Implementation Guide).
 */
#define ATTEMPTS 10

static int has_number(void)
{
	return (registers_after[0][REGISTER_FLAGS] & RFLAGS_CF) != 0;
}

static void check_rdrand(const struct request *request)
{
	for (int attempt = 1; !has_number() && attempt < ATTEMPTS; attempt++)
		request->routines->checked();
	check_random(has_number(), registers_after[0][REGISTER_RAX]);
}

/* A far call or jump answers which code segment it has reached. */
static void check_segment(uint64_t reached, uint64_t due)
{
	if (reached != due)
		wrong(reached, due, due);
}

/*
 * rdtsc must lie between two readings of the counter, rdpid and rseq give the CPU, cpuid a highest leaf, rdrand another number each time. A call
 * must return.
 */
static void check_instruction(const struct request *request)
{
	const uint64_t before = tsc();
	request->routines->checked();
	const uint64_t after = tsc();
	const uint64_t low = (uint32_t)registers_after[0][REGISTER_RAX];
	const uint64_t got = registers_after[0][REGISTER_RDX] << 32 | low;

	switch (request->entry->id) {
	case ENTRY_RDTSC:
	case ENTRY_RDTSCP:
		if (got < before || got > after)
			wrong(got, before, after);
		break;
	case ENTRY_RDPID:
		check_cpu(request, low & 0xfff); /* above: the node (arch/x86/include/asm/segment.h) */
		break;
	case ENTRY_RSEQ:
		check_cpu(request, low);
		break;
	case ENTRY_CPUID:
		if (!low || !registers_after[0][REGISTER_RBX])
			wrong(low, 1, UINT32_MAX);
		break;
	case ENTRY_RDRAND:
		check_rdrand(request);
		break;
	case ENTRY_FAR_CALL_X86_64:
	case ENTRY_FAR_JUMP_X86_64:
		check_segment(low, USER_CODE_32);
		break;
	case ENTRY_FAR_CALL_I386:
	case ENTRY_FAR_JUMP_I386:
		check_segment(low, USER_CODE_64);
		break;
	case ENTRY_CONFORMING:
	case ENTRY_JMP_GATE:
		check_segment(low, SELECTOR_CONFORMING);
		break;
	}
	check_registers(request);
}

/* What the kernel counts of this use; 0 where it counts nothing. After a copy, writing is what faults. */
static uint64_t counted(const struct request *request, const struct usage *usage)
{
	if (request->entry->id == ENTRY_INTERRUPT)
		return usage->interrupts;
	switch (request->operation->id) {
	case OPERATION_SWITCH:
		return usage->switches;
	case OPERATION_COPY_SPACE:
	case OPERATION_MAP_UNMAP:
		return usage->minor_faults;
	default:
		return 0;
	}
}

static int is_counted(const struct request *request)
{
	const struct usage each = {1, 1, 1, 1};

	return counted(request, &each) != 0;
}

/* One use must have been served as what it is. */
static void check_count(const struct request *request, const struct usage *before)
{
	const struct usage after = usage_now();
	const uint64_t grown = counted(request, &after) - counted(request, before);

	if (is_counted(request) && !grown)
		wrong(grown, 1, UINT32_MAX);
}

void operation_check(const struct request *request)
{
	if (request->operation->id == OPERATION_PERF_CLOCK) {
		check_perf_clock(request);
		return;
	}
	for (int i = 0; i < CHECKS; i++) {
		target_refresh(request);
		const struct usage before = usage_now();

		if (request->entry->kind == KIND_EXCEPTION && !is_call(request))
			check_exception(request);
		else if (request->entry->kind == KIND_INSTRUCTION)
			check_instruction(request);
		else if (is_time(request->operation))
			check_time(request);
		else
			use_once(request);
		check_count(request, &before);
	}
}

void operation_check_again(const struct request *request)
{
	const int is_trap = request->operation->form != FORM_CALL;

	if (is_trap)
		mach_check_again(request->operation);
	if (is_trap || request->entry->id == ENTRY_RDRAND)
		operation_check(request);
}

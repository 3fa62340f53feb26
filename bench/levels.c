/*
 * The cost of an entry into the kernel sits on sharp levels that last from milliseconds to seconds. What are they, and what moves them?
 * Beside each system call (none: a number that no kernel has) there is a control, and copies of code in user mode, in many places: returns as a
 * kernel with mitigations has them, and branches of other kinds (what three quarters of the copies cost at most). bench/OUTLIERS.md tells what came out.
 *
 *	levels watch CPU SECONDS		twenty lines a second, each a moment: its time, canary, and what everything costs
 *	levels trial CPU TRIALS			a line for each: what was done (nothing, in every third), and costs before and after
 *	levels processes CPU PROCESSES TURNS	processes that are alive at once, in turns, each beside one that is always the same
 *	levels runs CPU RUNS			runs of five seconds in turns: one process, an exec for each round, jumps before each batch,
 *						a draw between jumps and exec before each batch
 *
 * Costs are core cycles of a call, by a chain of imuls (three cycles on all processors that bench/ knows) in the same turn, without anything
 * subtracted. A block counts where the canary before it and the one behind it are fast; '-' is for too few.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { CALLS = 16, BLOCKS = 8, LINKS = 1024, LINK_CYCLES = 3, NOTS = 84 * 100 };
enum { PAGE = 4096, JUMPS = 65536, JUMP_BYTES = 48, LINE = 64, SWEEP = 4 << 20 };

/* A company's share of the core shows in the canary: this much below the best is company. */
static const double company = 0.955;
static double slowest_alone;

static uint64_t stamp(void)
{
	_mm_lfence();
	const uint64_t now = __rdtsc();
	_mm_lfence();
	return now;
}

/* --- what is measured: each function makes CALLS calls, and returns its ticks --- */

#define OPERATION(name_, call_, clobbers_...)                                                                \
	static uint64_t name_(void)                                                                          \
	{                                                                                                    \
		const uint64_t start = stamp();                                                              \
		for (int i = 0; i < CALLS; i++)                                                              \
			__asm__ volatile("lfence\n\t" call_ "\n\tlfence" : : : "rax", "memory", clobbers_);  \
		return stamp() - start;                                                                      \
	}

/*
 * Kinds of branches in user mode, to be copied to many places. A thunk as against SRSO: each ret is reached by a call whose return address it has
 * dropped, so the return stack is wrong each time. A retpoline: the ret goes where its call did not come from. The others have no such ret.
 */
__asm__(".text\n"
	"thunks:		call	3f\n	ret\n"
	".balign 64\n3:	call	6f\n	jmp	5f\n"
	".balign 64\n6:	jmp	5f\n"
	".balign 64\n5:	call	7f\n	int3\n"
	".balign 64\n7:	lea	8(%rsp), %rsp\n	ret\n	int3\n"
	"retpolines:	lea	3f(%rip), %rax\n	call	4f\n	ret\n"
	"4:	call	2f\n1:	pause\n	lfence\n	jmp	1b\n"
	".balign 16\n2:	mov	%rax, (%rsp)\n	ret\n	int3\n"
	".balign 64\n3:	ret\n"
	"calls:		call	3f\n	ret\n"
	".balign 64\n3:	call	6f\n	ret\n"
	".balign 64\n6:	call	7f\n	ret\n"
	".balign 64\n7:	ret\n	int3\n"
	"jumps:		lea	3f(%rip), %rax\n	jmp	*%rax\n"
	".balign 64\n3:	lea	4f(%rip), %rax\n	jmp	*%rax\n"
	".balign 64\n4:	ret\n"
	"kinds_end:\n");
extern const char thunks[], retpolines[], calls[], jumps[], kinds_end[];

enum { THUNKS, RETPOLINES, PLAIN_CALLS, INDIRECT_JUMPS, KINDS };
static const struct {
	const char *name, *begin, *end;
} kinds[KINDS] = {
    {"thunks", thunks, retpolines},
    {"retpolines", retpolines, calls},
    {"calls", calls, jumps},
    {"jumps", jumps, kinds_end},
};

OPERATION(none, "mov $1000, %%eax\n\tsyscall", "rcx", "r11")
OPERATION(getppid_, "mov $110, %%eax\n\tsyscall", "rcx", "r11")
OPERATION(int80, "mov $64, %%eax\n\tint $0x80", "r8", "r9", "r10", "r11")
OPERATION(control, "nop", "cc")

static uint64_t vdso(void)
{
	struct timespec time;
	const uint64_t start = stamp();

	for (int i = 0; i < CALLS; i++) {
		_mm_lfence();
		clock_gettime(CLOCK_MONOTONIC, &time);
		_mm_lfence();
	}
	return stamp() - start;
}

static volatile char *pages;

static uint64_t faults(void)
{
	madvise((void *)pages, CALLS * PAGE, MADV_DONTNEED);
	const uint64_t start = stamp();
	for (int i = 0; i < CALLS; i++) {
		_mm_lfence();
		pages[i * PAGE] = 1;
		_mm_lfence();
	}
	return stamp() - start;
}

enum { NONE, GETPPID, CONTROL, VDSO, INT80, FAULTS, OPERATIONS };
static const struct {
	const char *name;
	uint64_t (*ticks)(void);
} operations[OPERATIONS] = {
    [NONE] = {"none", none}, [GETPPID] = {"getppid", getppid_}, [CONTROL] = {"control", control},
    [VDSO] = {"vdso", vdso}, [INT80] = {"int80", int80},	[FAULTS] = {"fault", faults},
};

/* --- a turn: what each operation costs now --- */

static uint64_t chain(void)
{
	uint64_t link = 3;
	const uint64_t start = stamp();

	for (int i = 0; i < LINKS / 32; i++)
		__asm__ volatile(".rept 32\n\timul %0, %0\n\t.endr" : "+r"(link));
	return stamp() - start;
}

static uint64_t canary(void)
{
	const uint64_t start = stamp();

	__asm__ volatile(
	    "mov	$100, %%eax\n\t"
	    ".balign 64\n1:\n\t"
	    ".rept 12\n\t"
	    "not %%rbx\n\tnot %%rcx\n\tnot %%rdx\n\tnot %%rsi\n\tnot %%rdi\n\tnot %%r8\n\tnot %%r9\n\t"
	    ".endr\n\t"
	    "dec	%%eax\n\tjnz 1b"
	    :
	    :
	    : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "cc");
	return stamp() - start;
}

static int compare(const void *left, const void *right)
{
	const double difference = *(const double *)left - *(const double *)right;
	return (difference > 0) - (difference < 0);
}

/* Sorts. */
static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return count ? values[count / 2] : NAN;
}

/* The mean of those that no interrupt fell into: steps of the counter average out, as they would not in a median. Sorts. */
static double typical(double *values, int count)
{
	const double middle = median(values, count);
	double sum = 0;
	int near = 0;

	for (int i = 0; i < count; i++)
		if (fabs(values[i] - middle) < middle / 20 + 30) {
			sum += values[i];
			near++;
		}
	return near ? sum / near : NAN;
}

struct turn {
	double nots; /* of the canaries, a cycle */
	double cost[OPERATIONS];
};

/* Of the operations first to last - 1; the others are NAN. */
static struct turn take_turn(int first, int last)
{
	double chains[BLOCKS], canaries[BLOCKS][OPERATIONS + 1], blocks[OPERATIONS][BLOCKS], kept[BLOCKS];
	struct turn turn = {0};
	int looked = 0;

	for (int i = 0; i < BLOCKS; i++) {
		chains[i] = (double)chain();
		canaries[i][first] = (double)canary();
		for (int one = first; one < last; one++) {
			blocks[one][i] = (double)operations[one].ticks();
			canaries[i][one + 1] = (double)canary();
		}
	}
	const double cycles = LINKS * LINK_CYCLES / typical(chains, BLOCKS);
	for (int one = 0; one < OPERATIONS; one++) {
		int count = 0;
		turn.cost[one] = NAN;
		if (one < first || one >= last)
			continue;
		for (int i = 0; i < BLOCKS; i++) {
			const double before = NOTS / cycles / canaries[i][one];
			const double after = NOTS / cycles / canaries[i][one + 1];
			turn.nots += after;
			looked++;
			if (fmin(before, after) > slowest_alone)
				kept[count++] = blocks[one][i];
		}
		if (count >= 3)
			turn.cost[one] = typical(kept, count) * cycles / CALLS;
	}
	turn.nots /= looked;
	return turn;
}

/* Medians over turns, of which the first is for the caches. */
static struct turn take_turns(int count, int first, int last)
{
	struct turn turns[64], all = {0};
	double values[64];

	take_turn(first, last);
	for (int i = 0; i < count; i++) {
		turns[i] = take_turn(first, last);
		values[i] = turns[i].nots;
	}
	all.nots = median(values, count);
	for (int one = 0; one < OPERATIONS; one++) {
		int kept = 0;
		for (int i = 0; i < count; i++)
			if (!isnan(turns[i].cost[one]))
				values[kept++] = turns[i].cost[one];
		all.cost[one] = kept * 2 > count ? median(values, kept) : NAN;
	}
	return all;
}

/* --- the state of the core, as user mode sees it --- */

enum { COPIES = 24, AREA = 1 << 20 };
static char *copies[KINDS][COPIES];

/* Nots a cycle, the better of two: the first may have to load its code. */
static double nots_now(double cycles)
{
	const double first = (double)canary(), second = (double)canary();

	return NOTS / cycles / fmin(first, second);
}

static double copy_cost(const char *copy, double cycles)
{
	enum { TIMES = 4 };
	double ticks[TIMES];

	for (int i = 0; i < TIMES; i++) {
		const uint64_t start = stamp();
		for (int one = 0; one < CALLS; one++)
			__asm__ volatile("lfence\n\tcall *%0\n\tlfence"
					 :
					 : "r"(copy)
					 : "rax", "memory", "cc");
		ticks[i] = (double)(stamp() - start);
	}
	return typical(ticks, TIMES) * cycles / CALLS;
}

/* What three quarters of a kind's copies cost at most, cycles: in company NAN. */
struct copies {
	double cost[KINDS];
};

static struct copies copies_now(void)
{
	double chains[BLOCKS], costs[COPIES];
	struct copies now;

	for (int i = 0; i < BLOCKS; i++)
		chains[i] = (double)chain();
	const double cycles = LINKS * LINK_CYCLES / typical(chains, BLOCKS);
	const double before = nots_now(cycles);
	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < COPIES; i++)
			costs[i] = copy_cost(copies[kind][i], cycles);
		median(costs, COPIES);
		now.cost[kind] = costs[COPIES * 3 / 4];
	}
	if (fmin(before, nots_now(cycles)) < slowest_alone)
		for (int kind = 0; kind < KINDS; kind++)
			now.cost[kind] = NAN;
	return now;
}

/* What a canary is on a core that is alone: the best but a few of many. */
static void calibrate(void)
{
	enum { MANY = 400 };
	static double nots[MANY];

	for (int i = 0; i < MANY; i++)
		nots[i] = take_turn(CONTROL, CONTROL + 1).nots;
	median(nots, MANY);
	slowest_alone = nots[MANY - 1 - MANY / 40] * company;
}

static void print_cost(double cost)
{
	if (isnan(cost))
		printf(",-");
	else
		printf(",%.2f", cost);
}

/* --- what is done between two turns --- */

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static char *memory_for(size_t bytes, int protection)
{
	char *memory = mmap(0, bytes, PROT_READ | PROT_WRITE | protection,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED) {
		perror("levels: mmap");
		exit(1);
	}
	return memory;
}

static char *jump_code, *return_code, *data;

/* Jumps that visit all their places once, in an order that was drawn: more branches than any target buffer holds. */
static void make_jumps(void)
{
	static int order[JUMPS];

	jump_code = memory_for(JUMPS * JUMP_BYTES, PROT_EXEC);
	for (int i = 0; i < JUMPS; i++)
		order[i] = i;
	for (int i = JUMPS - 1; i > 1; i--) {
		const int other = 1 + (int)(draw() % (uint64_t)i), held = order[i];
		order[i] = order[other];
		order[other] = held;
	}
	for (int i = 0; i < JUMPS - 1; i++) {
		char *from = jump_code + order[i] * JUMP_BYTES;
		const int32_t distance = (order[i + 1] - order[i]) * JUMP_BYTES - 5;
		*from = (char)0xe9;
		memcpy(from + 1, &distance, sizeof(distance));
	}
	jump_code[order[JUMPS - 1] * JUMP_BYTES] = (char)0xc3;
}

static void prepare(void)
{
	make_jumps();
	return_code = memory_for(SWEEP, PROT_EXEC);
	for (int i = 0; i < SWEEP; i += LINE)
		return_code[i] = (char)0xc3;
	data = memory_for(SWEEP, 0);
	for (int kind = 0; kind < KINDS; kind++) {
		char *const area = memory_for(AREA, PROT_EXEC);
		for (int i = 0; i < COPIES; i++) {
			/* Each in its own part, that none lies on another. */
			const int line =
			    i * (AREA / COPIES / LINE) + (int)(draw() % (AREA / COPIES / LINE - 16));
			copies[kind][i] = area + line * LINE;
			memcpy(copies[kind][i], kinds[kind].begin,
			       (size_t)(kinds[kind].end - kinds[kind].begin));
		}
	}
	pages = memory_for(CALLS * PAGE, 0);
	madvise((void *)pages, CALLS * PAGE, MADV_NOHUGEPAGE);
}

static void call(char *place)
{
	__asm__ volatile("call *%0" : : "r"(place) : "memory");
}

static void do_jumps(void)
{
	call(jump_code);
}

static void do_indirect_calls(void)
{
	for (int i = 0; i < 20000; i++)
		call(return_code + draw() % 4096 * LINE);
}

static void do_code_sweep(void)
{
	for (int i = 0; i < 4 * 256 * 1024; i += LINE)
		call(return_code + i % (256 * 1024));
}

static void do_data_sweep(void)
{
	for (int i = 0; i < SWEEP; i += LINE)
		data[i]++;
}

static void do_fork(void)
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, 0, 0);
}

/* Of this program, which ends at once. */
static void do_exec(void)
{
	const pid_t child = vfork();

	if (!child) {
		execl("/proc/self/exe", "levels", "end", (char *)0);
		_exit(1);
	}
	waitpid(child, 0, 0);
}

static void do_sleep(void)
{
	usleep(20000);
}

static void do_faults(void)
{
	for (int i = 0; i < 20; i++)
		faults();
}

static void do_int80(void)
{
	for (int i = 0; i < 50; i++)
		int80();
}

static const struct {
	const char *name;
	void (*act)(void);
} actions[] = {
    {"jumps", do_jumps},
    {"exec", do_exec},
    {"fork", do_fork},
    {"sleep", do_sleep},
    {"indirect-calls", do_indirect_calls},
    {"code-sweep", do_code_sweep},
    {"data-sweep", do_data_sweep},
    {"faults", do_faults},
    {"int80", do_int80},
};
enum { ACTIONS = sizeof(actions) / sizeof(*actions) };

/* --- the modes --- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void wait_until(double moment)
{
	const double left = moment - seconds();

	if (left > 0)
		usleep((useconds_t)(left * 1e6));
}

/* Alone on the CPU while it measures; others have it in between. */
static void first_in_line(void)
{
	const struct sched_param priority = {.sched_priority = 10};

	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		fprintf(stderr, "levels: without real-time priority others interrupt what is measured\n");
}

static int watch(double length)
{
	const double start = seconds();

	first_in_line();
	printf("seconds,nots");
	for (int kind = 0; kind < KINDS; kind++)
		printf(",%s", kinds[kind].name);
	for (int one = 0; one < OPERATIONS; one++)
		printf(",%s", operations[one].name);
	printf("\n");
	for (int line = 0; line < length * 20; line++) {
		wait_until(start + line / 20.0);
		const double now = seconds() - start;
		/* The last two leave the guest on some machines, which is dear and may disturb the others. */
		const struct turn cheap = take_turns(8, 0, INT80);
		const struct copies now_in_user_mode = copies_now();
		const struct turn dear = take_turns(2, INT80, OPERATIONS);
		printf("%.3f,%.3f", now, cheap.nots);
		for (int kind = 0; kind < KINDS; kind++)
			print_cost(now_in_user_mode.cost[kind]);
		for (int one = 0; one < OPERATIONS; one++)
			print_cost(one < INT80 ? cheap.cost[one] : dear.cost[one]);
		printf("\n");
	}
	return 0;
}

static int trial(double count)
{
	first_in_line();
	printf("done,thunks,after");
	for (int one = 0; one < VDSO; one++)
		printf(",%s,after", operations[one].name);
	printf("\n");
	for (int i = 0; i < count; i++) {
		const int which = draw() % 3 ? (int)(draw() % ACTIONS) : -1;
		const struct turn before = take_turns(30, 0, VDSO);
		const double thunks_before = copies_now().cost[THUNKS];
		if (which >= 0)
			actions[which].act();
		const double thunks_after = copies_now().cost[THUNKS];
		const struct turn after = take_turns(30, 0, VDSO);
		printf("%s", which < 0 ? "nothing" : actions[which].name);
		print_cost(thunks_before);
		print_cost(thunks_after);
		for (int one = 0; one < VDSO; one++) {
			print_cost(before.cost[one]);
			print_cost(after.cost[one]);
		}
		printf("\n");
		usleep(10000 + (useconds_t)(draw() % 10000));
	}
	return 0;
}

static const char ROUND[] = "round";
enum { BATCHES = 4 };
struct batch {
	double none, getppid;
};

static struct batch take_batch(void)
{
	const struct turn turn = take_turns(6, 0, CONTROL + 1);
	return (struct batch){turn.cost[NONE], turn.cost[GETPPID]};
}

/* A process of its own, as a round of kentry is: it gets the canary's bound, and writes its batches. */
static void exec_round(struct batch *batches)
{
	int out[2];
	char bound[32];
	volatile size_t read_so_far = 0;
	ssize_t got = 1;

	if (pipe(out))
		exit(1);
	snprintf(bound, sizeof(bound), "%.4f", slowest_alone);
	const pid_t child = vfork();
	if (!child) {
		dup2(out[1], 1);
		execl("/proc/self/exe", "levels", ROUND, bound, (char *)0);
		_exit(1);
	}
	close(out[1]);
	while (got > 0 && read_so_far < BATCHES * sizeof(*batches)) {
		got = read(out[0], (char *)batches + read_so_far, BATCHES * sizeof(*batches) - read_so_far);
		read_so_far = read_so_far + (got > 0 ? (size_t)got : 0);
	}
	close(out[0]);
	waitpid(child, 0, 0);
}

static int be_round(const char *bound)
{
	struct batch batches[BATCHES];

	slowest_alone = atof(bound);
	for (int i = 0; i < BATCHES; i++)
		batches[i] = take_batch();
	return write(1, batches, sizeof(batches)) != sizeof(batches);
}

enum { ONE_PROCESS, EXECS, JUMPED, DRAWN, VARIANTS };
static const char *const variants[VARIANTS] = {"one-process", "exec", "jumps", "drawn"};

static void take_round(int variant, struct batch *batches)
{
	for (int i = 0; i < BATCHES; i++)
		batches[i] = (struct batch){NAN, NAN};
	if (variant == EXECS) {
		exec_round(batches);
		return;
	}
	for (int i = 0; i < BATCHES; i++) {
		if (variant == JUMPED || (variant == DRAWN && draw() % 2))
			do_jumps();
		else if (variant == DRAWN)
			do_exec();
		batches[i] = take_batch();
	}
}

/* Five seconds of rounds, one in 12 ms: medians over batches. */
static void one_run(int variant)
{
	enum { MOST = 4000 };
	static double none_costs[MOST], getppid_costs[MOST];
	const double start = seconds();
	int count = 0;

	for (int round = 0; seconds() < start + 5; round++) {
		struct batch batches[BATCHES];
		take_round(variant, batches);
		for (int i = 0; i < BATCHES; i++)
			if (count < MOST && !isnan(batches[i].none) && !isnan(batches[i].getppid)) {
				none_costs[count] = batches[i].none;
				getppid_costs[count++] = batches[i].getppid;
			}
		wait_until(start + round * 0.012);
	}
	printf("%s,%d", variants[variant], count);
	print_cost(median(none_costs, count));
	print_cost(median(getppid_costs, count));
	printf("\n");
	fflush(stdout);
}

static int runs(double count)
{
	printf("variant,batches,none,getppid\n");
	for (int i = 0; i < count; i++)
		for (int variant = 0; variant < VARIANTS; variant++)
			one_run(variant);
	return 0;
}

/* A process that answers each byte with what getppid costs. */
static void serve(int asked, int answered)
{
	char byte;

	while (read(asked, &byte, 1) == 1) {
		const double cost = take_turns(16, 0, CONTROL + 1).cost[GETPPID];
		if (write(answered, &cost, sizeof(cost)) != sizeof(cost))
			break;
	}
	_exit(0);
}

struct server {
	int ask, answer;
};

static struct server start_server(void)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) || pipe2(answer, O_CLOEXEC)) {
		perror("levels: pipe");
		exit(1);
	}
	if (!fork()) {
		close(ask[1]);
		serve(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	return (struct server){ask[1], answer[0]};
}

static double ask(struct server server)
{
	double cost = NAN;

	if (write(server.ask, "", 1) != 1 || read(server.answer, &cost, sizeof(cost)) != sizeof(cost))
		exit(1);
	return cost;
}

/* A line for each moment: the process, its cost, and the mean of the one that is always the same, asked before and after. */
static int processes(int count, int turns)
{
	enum { MOST = 64 };
	struct server servers[MOST];

	if (count < 1 || count > MOST)
		return 2;
	for (int i = 0; i < count; i++)
		servers[i] = start_server();
	const struct server same = start_server();
	printf("process,getppid,beside\n");
	for (int turn = 0; turn < turns; turn++)
		for (int i = 0; i < count; i++) {
			const double before = ask(same), cost = ask(servers[i]), after = ask(same);
			printf("%d", i);
			print_cost(cost);
			print_cost((before + after) / 2);
			printf("\n");
		}
	return 0;
}

int main(int count, char **words)
{
	const char *const mode = count > 1 ? words[1] : "";
	cpu_set_t one;

	if (!strcmp(mode, "end"))
		return 0;
	if (!strcmp(mode, ROUND) && count == 3)
		return be_round(words[2]);
	if (count < 4) {
		fprintf(stderr, "usage: levels watch CPU SECONDS | trial CPU TRIALS | processes CPU "
				"PROCESSES TURNS | runs CPU RUNS\n");
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(atoi(words[2]), &one);
	if (sched_setaffinity(0, sizeof(one), &one)) {
		perror("levels");
		return 1;
	}
	state ^= __rdtsc() * 0x9e3779b97f4a7c15u;
	prepare();
	calibrate();
	if (!strcmp(mode, "watch"))
		return watch(atof(words[3]));
	if (!strcmp(mode, "trial"))
		return trial(atof(words[3]));
	if (!strcmp(mode, "runs"))
		return runs(atof(words[3]));
	if (!strcmp(mode, "processes") && count == 5)
		return processes(atoi(words[3]), atoi(words[4]));
	fprintf(stderr, "levels: no mode %s\n", mode);
	return 2;
}

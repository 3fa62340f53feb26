/*
 * Asks the kernel questions: the system calls of questions.def, with usual, odd and wrong arguments, and what a few
 * instructions do. A line for each, `question: answer`. The same file runs on Linux and in the lab (questions.rs).
 */
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096ul

long way_syscall(long number, const long arguments[6]);
long way_int80(long number, const long arguments[6]);

#ifdef __x86_64__
#define NR(x86_64_, i386_) (x86_64_)
#define OWN_WAY		   way_syscall
#define BITS		   64
#else
#define NR(x86_64_, i386_) (i386_)
#define OWN_WAY		   way_int80
#define BITS		   32
extern unsigned long gateway;
#endif

/* A call that this ABI does not have: the question is left out. */
#define NONE -1

/* Memory at fixed addresses, the same before each question: the first page is given and told. */
#define GIVEN	  0x10000000ul
#define TOLD	  (GIVEN + 2048)
#define HOLE	  (GIVEN + PAGE)
#define READ_ONLY (GIVEN + 2 * PAGE)
#define NO_RIGHTS (GIVEN + 3 * PAGE)
#define EDGE	  (HOLE - 2)
#define KERNEL	  (BITS == 64 ? 0xffffffff80000000ul : 0xfffff000ul)

/* And eight pages to change: two that can be written, a hole, one more, one to read, one without rights, holes. */
#define FIELD	    0x20000000ul
#define FIELD_PAGES 8
#define AT(page)    (FIELD + PAGE * (page))

#define PROT_NONE  0
#define PROT_READ  1
#define PROT_WRITE 3
#define MAP_SET	   0x32 /* private, anonymous, fixed */

#define NR_WRITE    NR(1, 4)
#define NR_CLOSE    NR(3, 6)
#define NR_MMAP	    NR(9, 192)
#define NR_MPROTECT NR(10, 125)
#define NR_MUNMAP   NR(11, 91)
#define NR_GETPID   NR(39, 20)
#define NR_EXIT	    NR(60, 1)
#define NR_ACCESS   NR(21, 33)
#define NR_TIME	    NR(201, 13)
#define ARCH_SET_GS 0x1001

/* How an answer is told: as the number that it is; only whether there is an error; with words from TOLD on; with the field. */
enum kind { NUMBER, SUCCESS, FIELD_TOO, WORDS };
#define WITH(words_) (WORDS + (words_))

struct question {
	const char *name;
	long number;
	int kind;
	long given[8];
	long arguments[6];
};

/* Versions of the formatter differ about a macro that is a block. */
// clang-format off
#define NOTHING {0}
#define IN(...) {__VA_ARGS__}
// clang-format on
#define TEXT(at_) ((long)(at_))

/* struct pollfd is two words of 32 bits. */
#ifdef __x86_64__
#define POLLED(descriptor_, events_) (long)((uint32_t)(descriptor_) | (uint64_t)(events_) << 32)
#else
#define POLLED(descriptor_, events_) (descriptor_), (events_)
#endif

static const char missing[] = "/kentry/no/such/file", relative[] = "no-such-file", empty[] = "";
static char endless[2 * PAGE];

#define Q(name_, kind_, given_, number_, ...) {name_, number_, kind_, given_, {__VA_ARGS__}},
static const struct question questions[] = {
#include "questions.def"
};
#undef Q

static long own(long number, long a, long b, long c, long d, long e)
{
	return OWN_WAY(number, (const long[6]){a, b, c, d, e, 0});
}

static char output[1 << 16];
static size_t length;

static void say(const char *text)
{
	while (*text && length < sizeof(output))
		output[length++] = *text++;
}

static void say_number(unsigned long number, unsigned base)
{
	char digits[24];
	unsigned at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = "0123456789abcdef"[number % base];
	while (number /= base);
	say(digits + at);
}

static const char *error_name(long error)
{
	static const char *const names[] = {
	    [1] = "EPERM",	 [2] = "ENOENT",	[3] = "ESRCH",	     [4] = "EINTR",
	    [7] = "E2BIG",	 [8] = "ENOEXEC",	[9] = "EBADF",	     [10] = "ECHILD",
	    [11] = "EAGAIN",	 [12] = "ENOMEM",	[13] = "EACCES",     [14] = "EFAULT",
	    [16] = "EBUSY",	 [17] = "EEXIST",	[19] = "ENODEV",     [20] = "ENOTDIR",
	    [21] = "EISDIR",	 [22] = "EINVAL",	[23] = "ENFILE",     [24] = "EMFILE",
	    [25] = "ENOTTY",	 [29] = "ESPIPE",	[30] = "EROFS",	     [32] = "EPIPE",
	    [34] = "ERANGE",	 [36] = "ENAMETOOLONG", [38] = "ENOSYS",     [75] = "EOVERFLOW",
	    [95] = "EOPNOTSUPP", [97] = "EAFNOSUPPORT", [110] = "ETIMEDOUT",
	};

	return error > 0 && error < (long)(sizeof(names) / sizeof(names[0])) ? names[error] : 0;
}

static void say_answer(long answer, int is_number)
{
	const char *name = error_name(-answer);

	if (name) {
		say(name);
	} else if (answer < 0 && answer > -(long)PAGE) {
		say("error ");
		say_number((unsigned long)-answer, 10);
	} else if (is_number) {
		say_number((unsigned long)answer, answer < (long)PAGE && answer >= 0 ? 10 : 16);
	} else {
		say("done");
	}
}

static void prepare(void)
{
	volatile uint8_t *byte;

	own(NR_MMAP, GIVEN, 4 * PAGE, PROT_WRITE, MAP_SET, -1);
	own(NR_MUNMAP, HOLE, PAGE, 0, 0, 0);
	own(NR_MPROTECT, READ_ONLY, PAGE, PROT_READ, 0, 0);
	own(NR_MPROTECT, NO_RIGHTS, PAGE, PROT_NONE, 0, 0);
	own(NR_MUNMAP, FIELD, FIELD_PAGES * PAGE, 0, 0, 0);
	own(NR_MMAP, AT(0), 6 * PAGE, PROT_WRITE, MAP_SET, -1);
	for (unsigned page = 0; page < 6; page++) {
		byte = (volatile uint8_t *)AT(page);
		*byte = (uint8_t)('0' + page);
	}
	own(NR_MUNMAP, AT(2), PAGE, 0, 0, 0);
	own(NR_MPROTECT, AT(4), PAGE, PROT_READ, 0, 0);
	own(NR_MPROTECT, AT(5), PAGE, PROT_NONE, 0, 0);
}

/* A letter for each page of the field: what it allows; and what it holds, if that can be read. */
static void say_field(void)
{
	say(" ");
	for (unsigned page = 0; page < FIELD_PAGES; page++) {
		const long at = (long)AT(page);
		const int reads = own(NR_ACCESS, at, 0, 0, 0, 0) != -14;
		/* Writes behind what is looked at. */
		const int writes = own(NR_TIME, at + 2048, 0, 0, 0, 0) != -14;
		const char letters[] = {' ',
					writes	? 'w'
					: reads ? 'r'
						: '-',
					reads && *(const char *)at ? *(const char *)at : '.', 0};
		say(letters);
	}
}

static void ask(const struct question *question)
{
	if (question->number == NONE)
		return;
	prepare();
	for (unsigned i = 0; i < 8; i++)
		((volatile long *)GIVEN)[i] = question->given[i];
	const long answer = OWN_WAY(question->number, question->arguments);
	say(question->name);
	say(": ");
	say_answer(answer, question->kind != SUCCESS);
	if (question->kind == FIELD_TOO)
		say_field();
	for (int i = 0; i < question->kind - WORDS; i++) {
		say(" ");
		say_number(((volatile unsigned long *)TOLD)[i], 16);
	}
	say("\n");
}

static void say_result(const char *name, unsigned long value)
{
	say(name);
	say(": ");
	say_number(value, 16);
	say("\n");
}

/* What is asked with numbers that only the running program has: its process. */
static void ask_of_itself(void)
{
	static const struct {
		const char *name;
		long number, second;
	} itself[] = {
	    {"kill: itself, no signal", NR(62, 37), 0},
	    {"kill: itself, a signal that is none", NR(62, 37), 65},
	    {"kill: itself, a signal ignored by default", NR(62, 37), 17},
	    {"tkill: itself, no signal", NR(200, 238), 0},
	    {"tkill: itself, a signal that is none", NR(200, 238), -1},
	    {"sched_getaffinity: itself, too short", NR(204, 242), 0},
	    {"getpgid: itself", NR(121, 132), 0},
	};
	const long process = own(NR_GETPID, 0, 0, 0, 0, 0);

	for (unsigned i = 0; i < sizeof(itself) / sizeof(itself[0]); i++) {
		const long answer = own(itself[i].number, process, itself[i].second, (long)TOLD, 0, 0);
		say(itself[i].name);
		say(": ");
		say_answer(answer, 0);
		say("\n");
	}
	say("tgkill: itself, no signal: ");
	say_answer(own(NR(234, 270), process, process, 0, 0, 0), 1);
	say("\n");
}

static int has_umip(void)
{
	uint32_t eax = 7, ebx, ecx = 0, edx;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return ecx >> 2 & 1;
}

/* What instructions give that UMIP takes from ring 3: the kernel answers. */
static void ask_instructions(void)
{
	struct {
		uint16_t limit;
		unsigned long base;
	} __attribute__((packed)) table = {0xffff, ~0ul};
	unsigned long wide = ~0ul;
	uint16_t narrow = 0xffff;
	uint16_t words[2] = {0xffff, 0xffff};

	if (!has_umip()) {
		say("sgdt: not here\nsgdt by gs: not here\nsidt: not here\nsmsw: not here\nsmsw, 16 bits: "
		    "not here\n"
		    "smsw to memory: not here\nsldt: not here\nstr: not here\nstr to memory: not here\n");
		return;
	}
	__asm__ volatile("sgdt %0" : "=m"(table));
	say_result("sgdt", table.base + table.limit);
#ifdef __x86_64__
	/* The base of GS, which the kernel may have swapped. */
	table.base = ~0ul;
	own(158, ARCH_SET_GS, (long)&table - 64, 0, 0, 0);
	__asm__ volatile("sgdt %%gs:64" : : : "memory");
	own(158, ARCH_SET_GS, 0, 0, 0, 0);
#endif
	say_result("sgdt by gs", table.base + table.limit);
	__asm__ volatile("sidt %0" : "=m"(table));
	say_result("sidt", table.base + table.limit);
	__asm__ volatile("smsw %0" : "+r"(wide));
	say_result("smsw", wide);
	__asm__ volatile("smsw %w0" : "+r"(narrow));
	say_result("smsw, 16 bits", narrow);
	/* With an index, a displacement and a prefix, for whoever has to decode it. */
	__asm__ volatile(".byte 0x3e; smsw 4(%0, %1, 2)" : : "r"((char *)words - 8), "r"(2l) : "memory");
	say_result("smsw to memory", words[0] | (unsigned long)words[1] << 16);
	wide = 0;
	__asm__ volatile("sldt %0" : "+r"(wide));
	say_result("sldt", wide);
	wide = 0;
	__asm__ volatile("str %0" : "+r"(wide));
	say_result("str", wide);
	words[0] = words[1] = 0xffff;
	__asm__ volatile("str %0" : "=m"(words[0]));
	say_result("str to memory", words[0] | (unsigned long)words[1] << 16);
}

#ifdef __x86_64__
#define NR_ARCH_PRCTL 158
#define AT_HWCAP2     26
#define FSGSBASE      2

static unsigned long of_auxiliary_vector(const unsigned long *stack, unsigned long type)
{
	const unsigned long *at = stack + 1 + stack[0] + 1;

	while (*at++)
		;
	for (; at[0]; at += 2)
		if (at[0] == type)
			return at[1];
	return 0;
}

static void ask_bases(const unsigned long *stack)
{
	unsigned long base = 0x1234000, read = 0;

	if (!(of_auxiliary_vector(stack, AT_HWCAP2) & FSGSBASE)) {
		say("wrgsbase: not here\nrdfsbase: not here\n");
		return;
	}
	__asm__ volatile("wrgsbase %0" : : "r"(base));
	own(NR_ARCH_PRCTL, 0x1004, (long)&read, 0, 0, 0);
	say_result("wrgsbase", read);
	own(NR_ARCH_PRCTL, 0x1002, (long)0x5678000, 0, 0, 0);
	__asm__ volatile("rdfsbase %0" : "=r"(read));
	say_result("rdfsbase", read);
	own(NR_ARCH_PRCTL, 0x1002, 0, 0, 0, 0);
}

/* The lower half of rax is the number, and the lower half of an int argument the argument. */
static void ask_halves(void)
{
	const long none[6] = {0}, high[6] = {0x500000000, (long)TOLD, 0};

	say("syscall: number with an upper half: ");
	say_answer(way_syscall(0x700000000 + NR_GETPID, none) == own(NR_GETPID, 0, 0, 0, 0, 0) ? 0 : -38, 1);
	say("\nsyscall: negative number: ");
	say_answer(way_syscall(-1, none), 1);
	say("\nsyscall: number that is no call: ");
	say_answer(way_syscall(0x0fffffff, none), 1);
	say("\nread: descriptor with an upper half: ");
	say_answer(way_syscall(0, high), 1);
	say("\n");
}

static void ask_below_2_gib(void)
{
	const long at = own(NR_MMAP, 0, 2 * PAGE, PROT_WRITE, 0x62, -1), half = 1l << 31;

	say("mmap: below 2 GiB: ");
	say(at > 0 && at < half ? "below" : "above");
	say("\n");
}
#else
/* user_desc: number, base, limit, flags. */
static void ask_segments(void)
{
	static const struct {
		const char *name;
		uint32_t base, limit, flags;
	} segments[] = {
	    {"set_thread_area: flat", 0, 0xfffff, 0x51},
	    {"set_thread_area: code", 0, 0xfffff, 0x55},
	    {"set_thread_area: stack", 0, 0xfffff, 0x53},
	    {"set_thread_area: 16 bits", 0, 0xfffff, 0x50},
	    {"set_thread_area: not present", 0, 0xfffff, 0x71},
	    {"set_thread_area: all zero", 0, 0, 0},
	    {"set_thread_area: empty", 0, 0, 0x28},
	    {"set_thread_area: empty with a base", 1, 0, 0x28},
	};
	uint32_t descriptor[4] = {~0u, 0, 0xfffff, 0x51};
	long answer = own(243, (long)descriptor, 0, 0, 0, 0);
	const uint32_t first = descriptor[0];

	say("set_thread_area: any: ");
	say_answer(answer, 1);
	for (unsigned i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
		const uint32_t wanted[4] = {first, segments[i].base, segments[i].limit, segments[i].flags};
		say("\n");
		say(segments[i].name);
		say(": ");
		say_answer(own(243, (long)wanted, 0, 0, 0, 0), 1);
	}
	for (unsigned i = 0; i < 4; i++) {
		descriptor[0] = ~0u;
		descriptor[2] = 0xfffff;
		descriptor[3] = 0x51;
		answer = own(243, (long)descriptor, 0, 0, 0, 0);
	}
	say("\nset_thread_area: one too many: ");
	say_answer(answer, 1);
	descriptor[0] = first - 1;
	say("\nset_thread_area: below the first: ");
	say_answer(own(243, (long)descriptor, 0, 0, 0, 0), 1);
	descriptor[0] = first + 3;
	say("\nset_thread_area: above the last: ");
	say_answer(own(243, (long)descriptor, 0, 0, 0, 0), 1);
	/* A segment register that holds the selector follows the entry. */
	const uint32_t based[4] = {first, (uint32_t)GIVEN, 0xfffff, 0x51};
	uint32_t seen = 0;
	*(volatile uint32_t *)GIVEN = 0x600d;
	__asm__ volatile("mov %0, %%fs" : : "r"(first * 8 + 3));
	own(243, (long)based, 0, 0, 0, 0);
	__asm__ volatile("mov %%fs:0, %0" : "=r"(seen));
	/* And keeps its base, whatever is asked of arch_prctl. */
	say("\n");
	say_result("set_thread_area: while it is in fs", seen);
	say("arch_prctl: ARCH_SET_GS: ");
	say_answer(own(384, 0x1001, (long)TOLD, 0, 0, 0), 1);
	__asm__ volatile("mov %%fs:0, %0" : "=r"(seen));
	say("\n");
	say_result("arch_prctl: the base afterwards", seen);
}
#endif

static void ask_everything(const unsigned long *stack)
{
	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		ask(&questions[i]);
	prepare();
	ask_of_itself();
	ask_instructions();
#ifdef __x86_64__
	ask_bases(stack);
	ask_halves();
	ask_below_2_gib();
#else
	(void)stack;
	ask_segments();
#endif
}

void begin(const unsigned long *stack);

void begin(const unsigned long *stack)
{
	/* Whoever starts it may have left some open. */
	for (long descriptor = 3; descriptor < 256; descriptor++)
		own(NR_CLOSE, descriptor, 0, 0, 0, 0);
	for (size_t i = 0; i < sizeof(endless); i++)
		endless[i] = 'a';
	ask_everything(stack);
	for (size_t at = 0; at < length;)
		at += (size_t)own(NR_WRITE, 1, (long)output + (long)at, (long)(length - at), 0, 0);
	for (;;)
		own(NR_EXIT, 0, 0, 0, 0, 0);
}

/*
 * Every call that takes a pointer, through every entry, with pointers that are none: each must answer EFAULT and write
 * nothing. Says what does not, a line each; exits with 0 when everything did, and was as much as argv[1] says.
 */
#include "lab.h"

#include <stddef.h>
#include <stdint.h>

#define PAGE	   4096ul
#define EFAULT	   14
#define AT_SYSINFO 32

#define MOST_ARGUMENTS 6

typedef long way(long number, const long arguments[MOST_ARGUMENTS]);

#ifdef __x86_64__
#define WAYS(WAY)                                                                                            \
	WAY(syscall, X86_64)                                                                                 \
	WAY(sysenter, X86_64)                                                                                \
	WAY(call_gate, X86_64)                                                                               \
	WAY(ud, X86_64)                                                                                      \
	WAY(lock_nop, X86_64)                                                                                \
	WAY(int3, X86_64)                                                                                    \
	WAY(div0, X86_64)                                                                                    \
	WAY(int80, I386)                                                                                     \
	WAY(call_gate_i386, I386)
#define OWN	   X86_64
#define OWN_WAY	   way_syscall
#define END_OF_ALL 0x7ffffffff000ul
#else
#define WAYS(WAY)                                                                                            \
	WAY(int80, I386)                                                                                     \
	WAY(gateway, I386)                                                                                   \
	WAY(sysenter, I386)                                                                                  \
	WAY(syscall, I386)                                                                                   \
	WAY(call_gate, I386)                                                                                 \
	WAY(lcall7, I386)                                                                                    \
	WAY(ud, I386)                                                                                        \
	WAY(lock_nop, I386)                                                                                  \
	WAY(int3, I386)                                                                                      \
	WAY(div0, I386)
#define OWN	   I386
#define OWN_WAY	   way_int80
#define END_OF_ALL 0xffffe000ul
extern unsigned long gateway;
#endif

enum abi { X86_64, I386 };

#define WAY(name_, abi_) way way_##name_;
WAYS(WAY)
#undef WAY

static const struct {
	const char *name;
	way *call;
	enum abi abi;
} ways[] = {
#define WAY(name_, abi_) {#name_, way_##name_, abi_},
    WAYS(WAY)
#undef WAY
};

/* Arguments that stand for something. */
#define POINTER -1001 /* the one that is none */
#define GOOD	-1002 /* a place to write to */
#define EMPTY	-1003 /* an empty text */
#define VECTOR	-1004 /* an array for writev whose only element has the pointer */

/* Whether the kernel reads there, or writes, and how many bytes. */
enum access { READS, WRITES };

#define NONE 9999

static const struct call {
	const char *name;
	long numbers[2]; /* by abi */
	enum access access;
	unsigned bytes[2];
	long arguments[MOST_ARGUMENTS];
} calls[] = {
    {"write", {1, 4}, READS, {16, 16}, {1, POINTER, 16}},
    {"writev", {20, 146}, READS, {16, 8}, {1, POINTER, 1}},
    {"writev's element", {20, 146}, READS, {16, 16}, {1, VECTOR, 1}},
    {"fstat", {5, 197}, WRITES, {144, 96}, {1, POINTER}},
    {"newfstatat", {262, 300}, WRITES, {144, 96}, {1, EMPTY, POINTER, 0x1000}},
    {"statx", {332, 383}, WRITES, {256, 256}, {1, EMPTY, 0x1000, 0x7ff, POINTER}},
    {"pipe2", {293, 331}, WRITES, {8, 8}, {POINTER, 0}},
    {"gettimeofday", {96, 78}, WRITES, {16, 8}, {POINTER, 0}},
    {"gettimeofday's zone", {96, 78}, WRITES, {8, 8}, {0, POINTER}},
    {"time", {201, 13}, WRITES, {8, 4}, {POINTER}},
    {"clock_gettime of the page", {228, 265}, WRITES, {16, 8}, {1, POINTER}},
    {"clock_gettime of the kernel", {228, 265}, WRITES, {16, 8}, {3, POINTER}},
    {"clock_gettime64", {NONE, 403}, WRITES, {0, 16}, {1, POINTER}},
    {"clock_getres", {229, 266}, WRITES, {16, 8}, {1, POINTER}},
    {"clock_getres_time64", {NONE, 406}, WRITES, {0, 16}, {1, POINTER}},
    {"nanosleep", {35, 162}, READS, {16, 8}, {POINTER, 0}},
    {"clock_nanosleep", {230, 267}, READS, {16, 8}, {1, 0, POINTER, 0}},
    {"clock_nanosleep_time64", {NONE, 407}, READS, {0, 16}, {1, 0, POINTER, 0}},
    {"getcpu", {309, 318}, WRITES, {4, 4}, {POINTER, 0}},
    {"getcpu's node", {309, 318}, WRITES, {4, 4}, {0, POINTER}},
    {"getrandom", {318, 355}, WRITES, {16, 16}, {POINTER, 16, 0}},
    {"getrusage", {98, 77}, WRITES, {144, 72}, {0, POINTER}},
    {"prlimit", {302, 340}, WRITES, {16, 16}, {0, 3, 0, POINTER}},
    {"getrlimit", {97, 191}, WRITES, {16, 8}, {3, POINTER}},
    {"uname", {63, 122}, WRITES, {390, 390}, {POINTER}},
    {"sysinfo", {99, 116}, WRITES, {112, 64}, {POINTER}},
    {"sched_getaffinity", {204, 242}, WRITES, {8, 4}, {0, 8, POINTER}},
    {"arch_prctl", {158, NONE}, WRITES, {8, 8}, {0x1003, POINTER}},
    {"poll", {7, 168}, READS, {8, 8}, {POINTER, 1, 0}},
    {"ppoll's time", {271, 309}, READS, {16, 8}, {0, 0, POINTER, 0, 8}},
    {"readv", {19, 145}, READS, {16, 8}, {0, POINTER, 1}},
    {"FIONREAD", {16, 54}, WRITES, {4, 4}, {0, 0x541b, POINTER}},
    {"rt_sigaction's new", {13, 174}, READS, {32, 20}, {10, POINTER, 0, 8}},
    {"rt_sigaction's old", {13, 174}, WRITES, {32, 20}, {10, 0, POINTER, 8}},
    {"rt_sigprocmask's new", {14, 175}, READS, {8, 8}, {0, POINTER, 0, 8}},
    {"rt_sigprocmask's old", {14, 175}, WRITES, {8, 8}, {0, 0, POINTER, 8}},
    {"rt_sigpending", {127, 176}, WRITES, {8, 8}, {POINTER, 8}},
    {"sigaltstack's new", {131, 186}, READS, {24, 12}, {POINTER, 0}},
    {"sigaltstack's old", {131, 186}, WRITES, {24, 12}, {0, POINTER}},
    {"setitimer", {38, 104}, READS, {32, 16}, {0, POINTER, 0}},
    {"getitimer", {36, 105}, WRITES, {32, 16}, {0, POINTER}},
    {"getresuid", {118, 209}, WRITES, {4, 4}, {POINTER, GOOD, GOOD}},
    {"setrlimit", {160, 75}, READS, {16, 8}, {4, POINTER}},
    {"prlimit's new", {302, 340}, READS, {16, 16}, {0, 4, POINTER, 0}},
    {"sched_setaffinity", {203, 241}, READS, {8, 8}, {0, 8, POINTER}},
    {"prctl's name", {157, 172}, WRITES, {16, 16}, {16, POINTER}},
    {"futex's time", {202, 240}, READS, {16, 8}, {GOOD, 0x80, 1, POINTER, 0, 0}},
    {"set_thread_area", {NONE, 243}, READS, {0, 16}, {POINTER}},
};

#define NR_WRITE     (OWN == X86_64 ? 1 : 4)
#define NR_MMAP	     (OWN == X86_64 ? 9 : 192)
#define NR_MPROTECT  (OWN == X86_64 ? 10 : 125)
#define NR_MUNMAP    (OWN == X86_64 ? 11 : 91)
#define NR_EXIT	     (OWN == X86_64 ? 60 : 1)
#define PROTECT_READ 1
#define PROTECT_BOTH 3
#define MAP_AT	     0x32 /* private, anonymous, fixed */

static long own(long number, long a, long b, long c, long d, long e)
{
	return OWN_WAY(number, (const long[MOST_ARGUMENTS]){a, b, c, d, e, 0});
}

static unsigned long failures, tried;

static void say(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	own(NR_WRITE, 1, (long)text, (long)length, 0, 0);
}

static void say_number(unsigned long number)
{
	char digits[2 * sizeof(number) + 2];
	unsigned at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = "0123456789abcdef"[number % 16];
	while (number /= 16);
	say(digits + at);
}

static void fail(const char *way_name, const struct call *call, unsigned long pointer, const char *what,
		 long result)
{
	failures++;
	say(way_name);
	say(" ");
	say(call->name);
	say(" at ");
	say_number(pointer);
	say(": ");
	say(what);
	say(" ");
	say_number((unsigned long)result);
	say("\n");
}

/* Three pages below 2 GiB, for every ABI: read-only; nothing; no rights, though it has been touched. */
#define READ_ONLY 0x10000000ul
#define HOLE	  (READ_ONLY + PAGE)
#define NO_RIGHTS (READ_ONLY + 2 * PAGE)
/* And one that may be written, below one that is not there. */
#define LAST	  0x20000000ul
#define PATTERN	  0x5a

static void fill(unsigned long page)
{
	for (unsigned long i = 0; i < PAGE; i++)
		((volatile uint8_t *)page)[i] = PATTERN;
}

static int is_whole(unsigned long from, unsigned long to)
{
	while (from < to)
		if (*(volatile uint8_t *)from++ != PATTERN)
			return 0;
	return 1;
}

static void map_pages(void)
{
	own(NR_MMAP, (long)READ_ONLY, 3 * PAGE, PROTECT_BOTH, MAP_AT, -1);
	own(NR_MMAP, (long)LAST, PAGE, PROTECT_BOTH, MAP_AT, -1);
	fill(READ_ONLY);
	fill(NO_RIGHTS);
	fill(LAST);
	own(NR_MPROTECT, (long)READ_ONLY, PAGE, PROTECT_READ, 0, 0);
	own(NR_MPROTECT, (long)NO_RIGHTS, PAGE, 0, 0, 0);
	own(NR_MUNMAP, (long)HOLE, PAGE, 0, 0, 0);
}

static uint8_t good[512];
static long vector[2];
static int32_t narrow_vector[2];

static long argument(long value, unsigned long pointer, enum abi abi)
{
	switch (value) {
	case POINTER:
		return (long)pointer;
	case GOOD:
		return (long)good;
	case EMPTY:
		return (long)"";
	case VECTOR:
		vector[0] = (long)pointer;
		narrow_vector[0] = (int32_t)pointer;
		vector[1] = narrow_vector[1] = 16;
		return abi == X86_64 ? (long)vector : (long)narrow_vector;
	default:
		return value;
	}
}

static long make(unsigned i, const struct call *call, unsigned long pointer)
{
	long arguments[MOST_ARGUMENTS];

	for (unsigned at = 0; at < MOST_ARGUMENTS; at++)
		arguments[at] = argument(call->arguments[at], pointer, ways[i].abi);
	tried++;
	return ways[i].call(call->numbers[ways[i].abi], arguments);
}

static void must_fail(unsigned i, const struct call *call, unsigned long pointer)
{
	const long result = make(i, call, pointer);

	if (result != -EFAULT)
		fail(ways[i].name, call, pointer, "answered", result);
}

/* Nothing at all is written when the end of the address space is in the way. */
static void across_the_end(unsigned i, const struct call *call)
{
	volatile uint8_t *const last = (volatile uint8_t *)(END_OF_ALL - 3);

	last[0] = last[1] = last[2] = PATTERN;
	must_fail(i, call, (unsigned long)last);
	if (last[0] != PATTERN || last[1] != PATTERN || last[2] != PATTERN)
		fail(ways[i].name, call, (unsigned long)last, "wrote", last[0]);
}

/* The call works with a pointer that is one, and then it does not with others. */
static void try_call(unsigned i, const struct call *call)
{
	static const unsigned long everywhere[] = {8,	       HOLE,	   NO_RIGHTS, NO_RIGHTS + PAGE - 4,
						   END_OF_ALL, ~0ul & ~7ul};
#ifdef __x86_64__
	static const unsigned long above[] = {
	    0xffffffff80100000, 0xffff888000100000, 0xffffffffff600000,	     0x800000000000,
	    0xffff7ffffffffff8, 1ul << 63,	    (1ul << 32) + READ_ONLY,
	};
#endif
	const int is_own = ways[i].abi == OWN;

	if (call->numbers[ways[i].abi] == NONE)
		return;
	if (call->access == WRITES && make(i, call, (unsigned long)good) < 0)
		fail(ways[i].name, call, (unsigned long)good, "refused", 0);
	for (unsigned at = 0; at < sizeof(everywhere) / sizeof(everywhere[0]); at++)
		must_fail(i, call, everywhere[at]);
	must_fail(i, call, LAST + PAGE - call->bytes[ways[i].abi] + 1);
	if (call->access == READS && !is_whole(LAST, LAST + PAGE))
		fail(ways[i].name, call, LAST, "wrote", 0);
	fill(LAST);
	if (call->access == WRITES) {
		must_fail(i, call, READ_ONLY);
		must_fail(i, call, READ_ONLY + PAGE - 2);
	}
	if (!is_whole(READ_ONLY, READ_ONLY + PAGE))
		fail(ways[i].name, call, READ_ONLY, "wrote", 0);
	if (is_own)
		across_the_end(i, call);
#ifdef __x86_64__
	for (unsigned at = 0; is_own && at < sizeof(above) / sizeof(above[0]); at++)
		must_fail(i, call, above[at]);
#endif
}

/* What a page without rights held must be there when it has rights again. */
static void check_no_rights(void)
{
	own(NR_MPROTECT, (long)NO_RIGHTS, PAGE, PROTECT_READ, 0, 0);
	if (!is_whole(NO_RIGHTS, NO_RIGHTS + PAGE)) {
		say("the page without rights has changed\n");
		failures++;
	}
}

#ifndef __x86_64__
static void find_gateway(const unsigned long *stack)
{
	const unsigned long *at = stack + 1 + stack[0] + 1;

	while (*at++)
		;
	for (; at[0]; at += 2)
		if (at[0] == AT_SYSINFO)
			gateway = at[1];
}
#endif

void begin(const unsigned long *stack);

/* An entry that this processor lacks is left out: argv[1] has a letter for each, 1 or 0. */
void begin(const unsigned long *stack)
{
	const char *const wanted = (const char *)stack[2];

#ifndef __x86_64__
	find_gateway(stack);
#endif
	map_pages();
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (unsigned at = 0; wanted[i] == '1' && at < sizeof(calls) / sizeof(calls[0]); at++)
			try_call(i, &calls[at]);
	check_no_rights();
	say("tried ");
	say_number(tried);
	say("\n");
	for (;;)
		own(NR_EXIT, failures != 0, 0, 0, 0, 0);
}

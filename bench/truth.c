/*
 * The independent check of kentry's estimates: a loop of calls, each between two fences, less the same loop without
 * the call, each loop timed as a whole with CLOCK_MONOTONIC_RAW. It shares no code with the probe and subtracts no
 * stamps. The fences come in two kinds: all that a stamp of the probe does but its stores (lfence, rdtsc, lfence), and
 * a bare lfence. The stores are left out because they follow each other much more closely than in the probe, and system calls
 * on Zen 5 wait for them (bench/OUTLIERS.md).
 *
 *	truth CASE FENCE COUNT ALTERNATIONS	prints what COUNT calls cost, nanoseconds, so many times
 *	truth					prints the cases
 *
 * The case gateway-i386/after-int80 makes the same system call a few times through int $0x80 before each loop. That
 * alone makes the calls through the gateway dearer (bench/OUTLIERS.md).
 *
 * FENCE is stamp or lfence. Freestanding, for both bitnesses: gcc -O2 -ffreestanding -nostdlib -static [-m32].
 */
typedef unsigned long word;
typedef unsigned long long u64;

static word answer[8];
static volatile word function, number, first;
static const word second = 0;

#define LFENCE "lfence\n\t"
#define STAMP  "lfence\n\trdtsc\n\tlfence\n\t"

/* A loop: fence, arguments from memory (as many as the probe loads), the instruction or nothing, fence. */
#define LOOP(name_, fence_, load_, instruction_, clobbers_...)                                               \
	static void name_(word count)                                                                        \
	{                                                                                                    \
		while (count--)                                                                              \
			__asm__ volatile(fence_ load_ instruction_ "\n\t" fence_                             \
					 :                                                                   \
					 : "m"(number), "m"(first), "m"(second), "m"(function)               \
					 : "memory", "cc", clobbers_);                                       \
	}

#define LOOPS(name_, load_, instruction_, clobbers_...)                                                      \
	LOOP(name_##_stamp, STAMP, load_, instruction_, clobbers_)                                           \
	LOOP(name_##_stamp_control, STAMP, load_, "", clobbers_)                                             \
	LOOP(name_##_lfence, LFENCE, load_, instruction_, clobbers_)                                         \
	LOOP(name_##_lfence_control, LFENCE, load_, "", clobbers_)

#ifdef __x86_64__

#define SYS_WRITE	  1
#define SYS_EXIT	  60
#define SYS_CLOCK_GETTIME 228

static long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

LOOPS(syscall, "mov %0, %%rax\n\tmov %1, %%rdi\n\tmov %2, %%rsi\n\tmov %2, %%rdx\n\t", "syscall", "rax",
      "rdx", "rdi", "rsi", "rcx", "r11")
LOOPS(int80, "mov %0, %%rax\n\tmov %1, %%rbx\n\tmov %2, %%rcx\n\tmov %2, %%rdx\n\t", "int $0x80", "rax",
      "rdx", "rbx", "rcx")
LOOPS(function, "mov %1, %%rdi\n\tmov %2, %%rsi\n\tmov %2, %%rdx\n\tmov %2, %%rcx\n\tmov %2, %%r8\n\t",
      "call *%3", "rax", "rdx", "rdi", "rsi", "rcx", "r8", "r9", "r10", "r11")

#else

#define SYS_WRITE	  4
#define SYS_EXIT	  1
#define SYS_CLOCK_GETTIME 403

static long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

LOOPS(int80, "mov %0, %%eax\n\tmov %1, %%ebx\n\tmov %2, %%ecx\n\tmov %2, %%edx\n\t", "int $0x80", "eax",
      "edx", "ebx", "ecx")
LOOPS(gateway, "mov %0, %%eax\n\tmov %1, %%ebx\n\tmov %2, %%ecx\n\tmov %2, %%edx\n\t", "call *%3", "eax",
      "edx", "ebx", "ecx")

#endif

static u64 now(void)
{
	long long time[2] = {0, 0};

	call(SYS_CLOCK_GETTIME, 4, (long)time, 0);
	return (u64)time[0] * 1000000000u + (u64)time[1];
}

/*
 * A case and its two pairs of loops: with the call, and without. others_before: so many of the same calls are made
 * by call() before each loop, that is by int $0x80 in 32-bit code.
 */
struct loops {
	const char *name;
	word number, has_argument, others_before;
	void (*stamp[2])(word), (*lfence[2])(word);
};

#define CASE(name_, loops_, number_, has_argument_, others_before_)                                          \
	{                                                                                                    \
		name_, number_, has_argument_, others_before_, {loops_##_stamp, loops_##_stamp_control},     \
		{                                                                                            \
			loops_##_lfence, loops_##_lfence_control                                             \
		}                                                                                            \
	}

static const struct loops cases[] = {
#ifdef __x86_64__
    CASE("syscall-x86_64/getppid", syscall, 110, 0, 0),
    CASE("syscall-x86_64/gettimeofday", syscall, 96, 1, 0),
    CASE("int80-x86_64/gettimeofday", int80, 78, 1, 0),
    CASE("vsyscall/gettimeofday", function, 0, 1, 0),
    CASE("vdso-x86_64/gettimeofday", function, 0, 1, 0),
#else
    CASE("int80-i386/gettimeofday", int80, 78, 1, 0),
    CASE("gateway-i386/gettimeofday", gateway, 78, 1, 0),
    CASE("gateway-i386/after-int80", gateway, 78, 1, 4),
#endif
};

static void print(const char *text)
{
	word length = 0;

	while (text[length])
		length++;
	call(SYS_WRITE, 1, (long)text, (long)length);
}

static void print_number(u64 value)
{
	char text[24];
	int at = sizeof(text) - 1;

	text[at] = 0;
	text[--at] = '\n';
	do {
		/* Division by ten of a 64-bit number would need a library in 32-bit code. */
		u64 quotient = 0, rest = 0;
		for (int bit = 63; bit >= 0; bit--) {
			rest = rest << 1 | (value >> bit & 1);
			quotient <<= 1;
			if (rest >= 10) {
				rest -= 10;
				quotient |= 1;
			}
		}
		text[--at] = (char)('0' + rest);
		value = quotient;
	} while (value);
	print(text + at);
}

/* Also where the control took longer. */
static void print_difference(u64 entry, u64 control)
{
	if (entry < control)
		print("-");
	print_number(entry < control ? control - entry : entry - control);
}

static int same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The vDSO's __vdso_gettimeofday, by a plain search of its symbol table. */
static word find_in_vdso(const unsigned char *image)
{
#ifdef __x86_64__
	const unsigned char *segment = image + *(const word *)(image + 32);
	const long *dynamic = 0;
	const unsigned char *symbols = 0, *strings = 0;

	for (int i = *(const unsigned short *)(image + 56); i--; segment += 56)
		if (*(const unsigned *)segment == 2)
			dynamic = (const long *)(image + *(const word *)(segment + 8));
	for (; dynamic && dynamic[0]; dynamic += 2) {
		if (dynamic[0] == 5)
			strings = image + dynamic[1];
		if (dynamic[0] == 6)
			symbols = image + dynamic[1];
	}
	for (const unsigned char *symbol = symbols; symbol && symbol < strings; symbol += 24)
		if (same((const char *)strings + *(const unsigned *)symbol, "__vdso_gettimeofday"))
			return (word)(image + *(const word *)(symbol + 8));
#else
	(void)image;
#endif
	return 0;
}

static word auxiliary(const word *stack, word type)
{
	const word *at = stack + 1 + stack[0] + 1;

	while (*at++)
		;
	for (; at[0]; at += 2)
		if (at[0] == type)
			return at[1];
	return 0;
}

/* Nanoseconds of one loop. The clock is read by call(), too, but by another system call, which has no such effect. */
static u64 time_loop(void (*loop)(word), word count, word others_before)
{
	while (others_before--)
		call((long)number, (long)first, 0, 0);
	const u64 start = now();
	loop(count);
	return now() - start;
}

/* One alternation a line. */
static void measure(void (*const loops[2])(word), word count, word alternations, word others_before)
{
	loops[0](count);
	loops[1](count);
	while (alternations--) {
		const u64 entry = time_loop(loops[0], count, others_before);
		print_difference(entry, time_loop(loops[1], count, others_before));
	}
}

static void prepare(const struct loops *loops, const word *stack)
{
	number = loops->number;
	first = loops->has_argument ? (word)answer : 0;
	if (same(loops->name, "vsyscall/gettimeofday"))
		function = (word)0xffffffffff600000ull;
	else
		function =
		    sizeof(word) == 8 ? find_in_vdso((void *)auxiliary(stack, 33)) : auxiliary(stack, 32);
}

static word parse(const char *text)
{
	word value = 0;

	for (; *text; text++)
		value = value * 10 + (word)(*text - '0');
	return value;
}

void main_(const word *stack);

void main_(const word *stack)
{
	const char *const *arguments = (const char *const *)(stack + 1);
	const unsigned known = sizeof(cases) / sizeof(cases[0]);

	for (unsigned i = 0; i < known; i++)
		if (stack[0] == 5 && same(cases[i].name, arguments[1])) {
			const int bare = same(arguments[2], "lfence");

			prepare(&cases[i], stack);
			measure(bare ? cases[i].lfence : cases[i].stamp, parse(arguments[3]),
				parse(arguments[4]), cases[i].others_before);
			call(SYS_EXIT, 0, 0, 0);
		}
	for (unsigned i = 0; i < known; i++) {
		print(cases[i].name);
		print("\n");
	}
	call(SYS_EXIT, 2, 0, 0);
}

#ifdef __x86_64__
__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call main_\n");
#else
__asm__(".globl _start\n_start: mov %esp, %eax\n and $-16, %esp\n push %eax\n push %eax\n call main_\n");
#endif

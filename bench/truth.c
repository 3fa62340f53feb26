/*
 * The independent check of kentry's estimates: a loop of calls, each between two lfences, less the same loop without the
 * call, each timed as a whole with CLOCK_MONOTONIC_RAW. It shares nothing with the probe. Freestanding, for both
 * bitnesses: gcc -O2 -nostdlib -static -ffreestanding [-m32].
 *
 *	truth CASE COUNT ALTERNATIONS	prints what COUNT calls cost, nanoseconds, so many times
 *	truth				prints the cases
 */
typedef unsigned long word;
typedef unsigned long long u64;

static word answer[8];
static word function;

/*
 * Two loops: with the instruction, and without. The compiler may keep nothing across them but what they name.
 * Arguments: result and number in A, first argument in FIRST, second 0.
 */
#define PAIR(name_, instruction_, number_, first_, FIRST, SECOND, clobbers_...)                                      \
	static void name_##_entry(word count)                                                                        \
	{                                                                                                            \
		while (count--) {                                                                                    \
			word a = (number_), first = (word)(first_), second = 0;                                      \
			__asm__ volatile("lfence\n\t" instruction_ "\n\tlfence"                                      \
					 : "+a"(a), "+" FIRST(first), "+" SECOND(second)                             \
					 : "m"(function)                                                             \
					 : "memory", "cc", clobbers_);                                               \
		}                                                                                                    \
	}                                                                                                            \
	static void name_##_control(word count)                                                                      \
	{                                                                                                            \
		while (count--) {                                                                                    \
			word a = (number_), first = (word)(first_), second = 0;                                      \
			__asm__ volatile("lfence\n\tlfence"                                                          \
					 : "+a"(a), "+" FIRST(first), "+" SECOND(second)                             \
					 : "m"(function)                                                             \
					 : "memory", "cc", clobbers_);                                               \
		}                                                                                                    \
	}

#ifdef __x86_64__

#define SYS_WRITE 1
#define SYS_EXIT 60
#define SYS_CLOCK_GETTIME 228
#define CALL "call *%3"
#define CALLED "rcx", "rdx", "r8", "r9", "r10", "r11"

static long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

PAIR(syscall_getppid, "syscall", 110, 0, "D", "S", "rcx", "r11")
PAIR(syscall_gettimeofday, "syscall", 96, answer, "D", "S", "rcx", "r11")
PAIR(int80, "int $0x80", 78, answer, "b", "c", "rdx")
PAIR(function, CALL, 0, answer, "D", "S", CALLED)

#else

#define SYS_WRITE 4
#define SYS_EXIT 1
#define SYS_CLOCK_GETTIME 403

static long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

PAIR(int80, "int $0x80", 78, answer, "b", "c", "edx")
PAIR(gateway, "call *%3", 78, answer, "b", "c", "edx")

#endif

static u64 now(void)
{
	long long time[2] = {0, 0};

	call(SYS_CLOCK_GETTIME, 4, (long)time, 0);
	return (u64)time[0] * 1000000000u + (u64)time[1];
}

struct loops {
	const char *name;
	void (*entry)(word), (*control)(word);
};

static const struct loops cases[] = {
#ifdef __x86_64__
	{"syscall-x86_64/getppid", syscall_getppid_entry, syscall_getppid_control},
	{"syscall-x86_64/gettimeofday", syscall_gettimeofday_entry, syscall_gettimeofday_control},
	{"int80-x86_64/gettimeofday", int80_entry, int80_control},
	{"vsyscall/gettimeofday", function_entry, function_control},
	{"vdso-x86_64/gettimeofday", function_entry, function_control},
#else
	{"int80-i386/gettimeofday", int80_entry, int80_control},
	{"gateway-i386/gettimeofday", gateway_entry, gateway_control},
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

/* One alternation a line. */
static void measure(const struct loops *loops, word count, word alternations, const word *stack)
{
	if (same(loops->name, "vsyscall/gettimeofday"))
		function = (word)0xffffffffff600000ull;
	else
		function = sizeof(word) == 8 ? find_in_vdso((void *)auxiliary(stack, 33)) : auxiliary(stack, 32);
	loops->entry(count);
	loops->control(count);
	while (alternations--) {
		const u64 start = now();
		loops->entry(count);
		const u64 middle = now();
		loops->control(count);
		const u64 end = now();
		const u64 entry = middle - start, control = end - middle;

		print_number(entry > control ? entry - control : 0);
	}
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
		if (stack[0] == 4 && same(cases[i].name, arguments[1])) {
			measure(&cases[i], parse(arguments[2]), parse(arguments[3]), stack);
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

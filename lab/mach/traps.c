/* The traps: how each gets its arguments, whichever entry it came by, and those that are not about messages. */
#include "mach/task.h"
#include "cpu/cpu.h"
#include "cpu/mode.h"
#include "mach/trap.h"
#include "serial/serial.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define SIGILL	    4
#define SIGSEGV	    11
#define ILL_ILLOPN  2
#define SEGV_MAPERR 1

#define MOST_ARGUMENTS	   11
#define REGISTER_ARGUMENTS 6 /* of a 64-bit program */

/* Where the stub's return address is; the paths write it (entry/steps/personality.S). */
extern uint64_t mach_stack;

static _Noreturn void faults(uint64_t address)
{
	program_ends(
	    (struct end){LAB_END_FAULT, {SIGSEGV, SEGV_MAPERR, (uint64_t)VECTOR_PAGE_FAULT << 32, address}});
}

/* As GNU Mach reads them, from the last to the first: that one faults which comes first then. */
static void read_words(uint64_t *words, uint64_t from, unsigned count, unsigned bytes)
{
	uint8_t copied[MOST_ARGUMENTS * sizeof(uint64_t)];

	if (user_read(copied, from, (uint64_t)count * bytes))
		for (unsigned i = count; i-- > 0;)
			if (user_read(copied, from + i * bytes, bytes))
				faults(from + i * bytes);
	for (unsigned i = 0; i < count; i++) {
		words[i] = 0;
		__builtin_memcpy(&words[i], copied + i * bytes, bytes);
	}
}

/*
 * A 64-bit program has six arguments in registers, and the others behind the return address; a 32-bit one has all there. By whichever
 * entry: the program's width decides, not the entry's.
 */
static inline __attribute__((always_inline)) void fetch(uint64_t *words, unsigned count,
							const uint64_t registers[REGISTER_ARGUMENTS])
{
	if (!MODE_HAS_64_BITS || current->bits == 32) {
		read_words(words, mach_stack + 4, count, 4);
		return;
	}
	for (unsigned i = 0; i < count && i < REGISTER_ARGUMENTS; i++)
		words[i] = registers[i];
	if (count > REGISTER_ARGUMENTS)
		read_words(words + REGISTER_ARGUMENTS, mach_stack + 8, count - REGISTER_ARGUMENTS, 8);
}

/* What a path calls for each trap. */
#define TRAP(number_, count_, function_)                                                                     \
	long trap_##function_(word first, word second, word third, word fourth, word fifth, word sixth)      \
	    SERVICE;                                                                                         \
	long trap_##function_(word first, word second, word third, word fourth, word fifth, word sixth)      \
	{                                                                                                    \
		const uint64_t registers[] = {first, second, third, fourth, fifth, sixth};                   \
		uint64_t words[(count_) + 1];                                                                \
		fetch(words, count_, registers);                                                             \
		return do_##function_(words);                                                                \
	}
#define ALSO(number_, function_)
#include "mach/traps.def"
#undef TRAP
#undef ALSO

long trap_kern_invalid(void) SERVICE;
long trap_kern_invalid(void)
{
	return KERN_INVALID_ARGUMENT;
}

_Noreturn void mach_no_such_trap(void);
_Noreturn void mach_no_such_trap(void)
{
	log_line("a number that is no trap of GNU Mach's: an invalid instruction there, too");
	program_ends((struct end){LAB_END_FAULT, {SIGILL, ILL_ILLOPN, (uint64_t)VECTOR_INVALID << 32, 0}});
}

/* By number; null where the answer is always the same. */
static void *const functions[MACH_TRAPS] = {
#define TRAP(number_, count_, function_) [number_] = trap_##function_,
#define ALSO(number_, function_)	 [number_] = trap_##function_,
#include "mach/traps.def"
#undef TRAP
#undef ALSO
};

trap *trap_function(unsigned number)
{
	return functions[number] ? functions[number] : trap_kern_invalid;
}

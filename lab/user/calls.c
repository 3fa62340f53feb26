/* The dispatch tables, and the answer to numbers that no system call has. */
#include "user/calls.h"
#include "call_names.h"
#include "entry/entry.h"
#include "entry/layout.h"
#include "mach/trap.h"
#include "mm/mm.h"
#include "serial/serial.h"
#include "user/files.h"
#include "user/thread.h"
#include "user/user.h"

#include <stddef.h>

typedef long call(void);

/* Read by the entry paths (entry/steps.inc). */
call *calls_x86_64[CALLS], *calls_i386[CALLS], *traps[MACH_TRAPS];

call call_unknown_x86_64, call_unknown_i386;
long report_unknown_call(uint32_t number, uint32_t bits);

/* One line for each number and program is enough; and one for all commands of calls that the lab has. */
static uint8_t reported[2][CALLS];
static int is_command_reported;

#define NONE CALLS

struct row {
	uint32_t x86_64, i386;
	call *function_x86_64, *function_i386;
};

#define CALL(x86_64_, i386_, function_x86_64_, function_i386_)                                               \
	{x86_64_, i386_, (void *)function_x86_64_, (void *)function_i386_},
static const struct row rows[] = {
#include "user/calls.def"
};
#undef CALL

static void write_landing(call *function)
{
	static const uint8_t room[LANDING_BYTES] = {0x90, 0x90, 0x90, 0x90},
			     landing[LANDING_BYTES] = {0xf3, 0x0f, 0x1e, LANDING_LAST};
	uint8_t *const at = to_write((word)function - LANDING_BYTES);

	if (!__builtin_memcmp(at, room, sizeof(room)))
		__builtin_memcpy(at, landing, sizeof(landing));
	if (__builtin_memcmp(at, landing, sizeof(landing)))
		panic("a service has no room for endbr");
}

/* Where a table points for a function: to it, or to the endbr in front of it. */
static call *entrance(call *function)
{
	if (configured[SWITCH_IBT] != IBT_ON)
		return function;
	write_landing(function);
	return (call *)((word)function - LANDING_BYTES);
}

void calls_init(void)
{
	for (unsigned i = 0; i < CALLS; i++) {
		calls_x86_64[i] = entrance(call_unknown_x86_64);
		calls_i386[i] = entrance(call_unknown_i386);
	}
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].x86_64 != NONE)
			calls_x86_64[rows[i].x86_64] = entrance(rows[i].function_x86_64);
		if (rows[i].i386 != NONE)
			calls_i386[rows[i].i386] = entrance(rows[i].function_i386);
	}
	for (unsigned i = 0; i < MACH_TRAPS; i++)
		traps[i] = entrance(trap_function(i));
}

void calls_reset(struct text input)
{
	__builtin_memset(reported, 0, sizeof(reported));
	is_command_reported = 0;
	files_reset(input);
}

void calls_reset_thread(struct thread *thread, const char *name)
{
	timers_reset(&thread->timers);
	limits_reset(&thread->limits);
	settings_reset(&thread->settings, name);
}

static const char *name_of(uint32_t number, uint32_t bits)
{
#define ROW(number_, name_)                                                                                  \
	case number_:                                                                                        \
		return name_;
	if (bits == 64)
		switch (number) {
			CALL_NAMES_X86_64(ROW)
		}
	else
		switch (number) {
			CALL_NAMES_I386(ROW)
		}
#undef ROW
	return "no name";
}

#define THREADS "the lab has one thread of one process; run the program on Linux, or let it work with one"
#define SIGNALS "the lab delivers no signals; run the program on Linux"
#define WAITING "the lab has no such descriptors; poll works here"
#define NETWORK "the lab has no network; run the program on Linux"
#define OTHER                                                                                                \
	"the lab does not have it (docs/lab.md lists what it has); run the program on Linux if it needs it"

static const char *advice_for(uint32_t number, uint32_t bits)
{
	static const struct {
		uint32_t x86_64, i386;
		const char *advice;
	} refused[] = {
#define REFUSED(x86_64_, i386_, advice_) {x86_64_, i386_, advice_},
#include "user/refused.def"
#undef REFUSED
	};

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if ((bits == 64 ? refused[i].x86_64 : refused[i].i386) == number)
			return refused[i].advice;
	return OTHER;
}

long report_unknown_call(uint32_t number, uint32_t bits)
{
	uint8_t *seen = &reported[bits == 64][number];

	if (!*seen)
		log_line("ENOSYS for system call %" U64 " (%s, %s): %s", (uint64_t)number,
			 name_of(number, bits), bits == 64 ? "x86-64" : "i386", advice_for(number, bits));
	*seen = 1;
	return -ENOSYS;
}

long report_unknown_command(const char *call, uint32_t command)
{
	if (!is_command_reported)
		log_line("EINVAL for command %" U64 " of %s: %s", (uint64_t)command, call, OTHER);
	is_command_reported = 1;
	return -EINVAL;
}

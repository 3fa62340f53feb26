/* One program at a time: started, watched, ended. */
#include "cpu/counters.h"
#include "entry/entry.h"
#include "mm/mm.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/tick.h"
#include "user/calls.h"
#include "user/user.h"

#define SIGKILL 9

static struct end ended;
static uint64_t limit;
static int running; /* a program has begun */
static int watching;
static struct frame watched;

void program_set_limit(uint64_t ticks)
{
	limit = ticks;
}

_Noreturn void program_ends(struct end end)
{
	if (end.how == LAB_END_FAULT)
		signal_note_handler(end.detail[0]);
	ended = end;
	leave_user();
}

void program_lacks_memory(void)
{
	if (!running)
		return;
	log_line("no memory is left for the program: it has touched more than the guest has, and ends");
	program_ends((struct end){LAB_END_FAULT, {SIGKILL}});
}

void program_may_be_runaway(void)
{
	const uint64_t ticks = clock_program_ticks();

	if (limit && ticks > limit)
		program_ends((struct end){LAB_END_RUNAWAY, {ticks}});
	timers_check();
}

int program_watches(const struct frame *frame)
{
	if (!watching)
		return 0;
	watched = *frame;
	leave_user();
}

/* Resets segments and registers that are not in the frame, so that a program finds nothing of the previous one. */
static void reset_registers(void)
{
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		tables_set_tls(i, 0);
	__asm__ volatile("mov %0, %%ds; mov %0, %%es; mov %1, %%fs; mov %1, %%gs"
			 :
			 : "r"(SELECTOR_USER_DATA), "r"(0));
	wrmsr(MSR_FS_BASE, 0);
	wrmsr(MSR_GS_BASE, 0);
}

static void go(const struct frame *frame, int bits, int serve)
{
	reset_registers();
	hardware_point_for(bits, serve);
	clock_program_starts();
	tick_restart();
	running = 1;
	enter_user(frame);
	running = 0;
	tick_stop();
}

/* Gives back all that programs had. */
static void end_spaces(void)
{
	space_enter(&kernel_space);
	space_end_all();
}

struct end program_run(const struct start *start)
{
	struct loaded loaded;
	struct frame frame;
	long problem = elf_load(start->file, &loaded);

	if (!problem)
		problem = start_prepare(start, &loaded, &frame);
	if (problem) {
		end_spaces();
		return (struct end){LAB_END_NOT_LOADED, {(uint64_t)-problem}};
	}
	calls_reset(start);
	fpu_reset();
	observed_flags = 0;
	counters_start();
	go(&frame, loaded.bits, start->serve);
	counters_stop();
	end_spaces();
	if (ended.how == LAB_END_EXITED && observed_flags)
		ended.detail[1] = observed_flags & RFLAGS_IF ? LAB_IF_SET : LAB_IF_CLEAR;
	return ended;
}

struct frame program_run_code(const uint8_t *code, uint64_t bytes, int serve)
{
	const struct frame frame = {
	    .rip = PROGRAM_CODE,
	    .cs = SELECTOR_USER_CODE_64,
	    .rflags = RFLAGS_PROGRAM,
	    .rsp = PROGRAM_CODE,
	    .ss = SELECTOR_USER_DATA,
	};

	space_new(64, USER_END_64);
	if (space_add(PROGRAM_CODE, bytes, PROTECT_READ | PROTECT_EXECUTE, (struct source){code, bytes, 0}))
		panic("no memory for the first program");
	calls_reset(0);
	watching = 1;
	go(&frame, 64, serve);
	watching = 0;
	end_spaces();
	return watched;
}

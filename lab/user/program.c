/* Programs: loaded, run together, watched, ended. */
#include "cpu/counters.h"
#include "entry/entry.h"
#include "mach/start.h"
#include "mm/mm.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/tick.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define SIGKILL 9

static struct end ended;
static uint64_t limit;
static long problem; /* with a program that was to be loaded; as execve would answer */
static int running;  /* a program has begun */
static int watching;
static struct frame watched;

void program_set_limit(uint64_t ticks)
{
	limit = ticks;
}

static int is_success(struct end end)
{
	return end.how == LAB_END_EXITED && !end.detail[0];
}

/* Who of Mach's threads goes on behind the current one. Where all others wait for ever, none does, and that is the end of all. */
static struct thread *next_of_mach(const char *who, struct end *end)
{
	int is_stuck = 0;

	current->is_runnable = 0;
	timers_end(); /* others may wait longer than one of its alarms */
	struct thread *const next = wait_next(&is_stuck);
	if (is_stuck && !next) {
		log_line("a %s has ended, and all that ran beside it wait for a message that nobody sends",
			 who);
		*end = (struct end){LAB_END_FAULT, {SIGKILL}};
	}
	return next;
}

/* Who goes on where a program has ended well. */
static struct thread *next_of(struct end *end)
{
	if (current->personality != PERSONALITY_MACH)
		return thread_next();
	mach_program_ends(current);
	return next_of_mach("program", end);
}

_Noreturn void program_thread_ends(void)
{
	struct end end = {LAB_END_EXITED, {0}};
	struct thread *const next = next_of_mach("thread", &end);

	if (next)
		thread_ends(next);
	ended = end;
	thread_run_kernel();
}

_Noreturn void program_ends(struct end end)
{
	struct thread *const next = is_success(end) ? next_of(&end) : 0;

	if (end.how == LAB_END_FAULT)
		signal_note_handler(end.detail[0]);
	if (next)
		thread_ends(next);
	if (threads_count() > 1 && !is_success(end))
		log_line("process %" U64 " (%s) has ended, and with it those that ran beside it",
			 (uint64_t)current->id, current->settings.name);
	ended = end;
	thread_run_kernel();
}

_Noreturn void program_ends_all(void)
{
	ended = (struct end){LAB_END_EXITED, {0}};
	thread_run_kernel();
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
	thread_run_kernel();
}

/* Begins a thread. Returns when programs have ended. */
static void go(struct thread *first)
{
	clock_program_starts();
	tick_restart();
	running = 1;
	thread_run(first);
	running = 0;
	tick_stop();
}

/* As long as it is loaded, its address space is the current one. Null when it cannot be, and then `problem` says why. */
static struct thread *load(const struct start *start)
{
	struct loaded loaded;
	struct frame frame;
	struct thread *thread = 0;

	problem = elf_load(start->file, &loaded);
	if (!problem)
		problem = start_prepare(start, &loaded, &frame);
	if (!problem) {
		thread = thread_new(&frame, loaded.bits, start->serve, loaded.landing_pad);
		if (!thread)
			panic("more threads than there is room for");
		thread->shadow_stack = thread->shadow_top = loaded.shadow_stack;
		calls_reset_thread(thread, start->arguments[0]);
		if (thread->personality == PERSONALITY_MACH && !mach_begin(thread))
			problem = -ENOMEM;
	}
	space_enter(&kernel_space);
	return thread;
}

void program_beside(const struct start *start)
{
	if (!problem && threads_count() == MOST_THREADS - 1)
		problem = -EAGAIN;
	if (!problem)
		load(start);
}

/* The paths have the calls of one personality only. */
static int are_alike(const struct thread *first)
{
	for (unsigned i = 0; i < threads_count(); i++)
		if (thread_by_number(i)->personality != first->personality) {
			log_line("programs that run together have one personality: set it before beside");
			return 0;
		}
	return 1;
}

struct end program_run(const struct start *start)
{
	struct thread *first = problem ? 0 : load(start);

	if (first && !problem && !are_alike(first))
		problem = -EINVAL;
	if (first && !problem) {
		if (first->personality == PERSONALITY_MACH)
			mach_begin_first(first);
		first->id = LAB_PID;
		calls_reset(start->input);
		observed_flags = 0;
		counters_start();
		go(first);
		counters_stop();
		if (ended.how == LAB_END_EXITED && observed_flags)
			ended.detail[1] = observed_flags & RFLAGS_IF ? LAB_IF_SET : LAB_IF_CLEAR;
	} else {
		ended = (struct end){LAB_END_NOT_LOADED, {(uint64_t)-problem}};
	}
	return ended;
}

void programs_end(void)
{
	clock_copy_to(0);
	threads_end();
	problem = 0;
}

struct frame program_run_code(const uint8_t *code, uint64_t bytes, int serve)
{
	const struct frame frame = {
	    .ip = PROGRAM_CODE,
	    .cs = SELECTOR_USER_CODE,
	    .flags = RFLAGS_PROGRAM,
	    FRAME_SEGMENTS.sp = PROGRAM_CODE,
	    .ss = SELECTOR_USER_DATA,
	};

	if (space_new(WORD_BITS, end_of_programs(WORD_BITS)) ||
	    space_add(PROGRAM_CODE, bytes, PROTECT_READ | PROTECT_EXECUTE, (struct source){code, bytes, 0}))
		panic("no memory for the first program");
	struct thread *const thread = thread_new(&frame, WORD_BITS, serve, 0);
	calls_reset_thread(thread, "");
	calls_reset((struct text){0, 0});
	watching = 1;
	go(thread);
	watching = 0;
	programs_end();
	return watched;
}

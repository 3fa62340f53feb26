/* Threads: how one is made, and what belongs to it besides the registers of the kernel (entry/switch.S). */
#include "user/thread.h"
#include "entry/entry.h"
#include "entry/layout.h"
#include "entry/steps/steps.h"
#include "entry/switch.h"
#include "mach/start.h"
#include "user/user.h"

_Static_assert(offsetof(struct thread, stack) == THREAD_STACK, "thread_switch");

static struct thread kernel_thread = {.space = &kernel_space};
struct thread *current = &kernel_thread;
static struct thread threads[MOST_THREADS];
static unsigned made;

void thread_switch(struct thread *from, struct thread *to);

/* What the distances of stacks from their ends are drawn from; 0: none. */
static uint64_t layout;

void threads_set_layout(uint64_t drawn_from)
{
	layout = drawn_from;
}

/* The top of a stack of this number. */
static word top_of_stack(const void *end, unsigned number)
{
	const uint64_t drawn = random_mixed(random_mixed(layout) + number * RANDOM_STEP);

	return (word)end - (layout ? drawn % STACK_ROOM & ~(STACK_STEP - 1ul) : 0);
}

/* The first place of one that has ended, or that never was one; null when all are alive. */
static struct thread *unused(void)
{
	for (unsigned i = 0; i < made; i++)
		if (!threads[i].is_alive)
			return &threads[i];
	return made < MOST_THREADS ? &threads[made++] : 0;
}

/*
 * As a program finds them. A program's own, which makes the thread, stay in the processor: not all of them could be put back (features.c).
 * The kernel's own thread has made another before.
 */
static void set_registers(struct thread *thread)
{
	static uint8_t first[FPU_BYTES] __attribute__((aligned(64)));

	if (current == &kernel_thread) {
		fpu_reset();
		fpu_save(first);
	}
	__builtin_memcpy(thread->registers, first, FPU_BYTES);
}

struct thread *thread_new(const struct frame *start, int bits, int serves, word landing_pad)
{
	struct thread *const thread = unused();

	if (!thread)
		return 0;
	const unsigned index = thread_number(thread);
	const word kernel_stack_top = top_of_stack(&kernel_stacks[index] + 1, 2 * index);
	__builtin_memset(thread, 0, offsetof(struct thread, registers));
	thread->stack = switch_prepare(kernel_stack_top, &thread->start);
	thread->kernel_stack = kernel_stack_top;
	thread->entry_stack = top_of_stack(&entry_stacks[index] + 1, 2 * index + 1) - ENTRY_STACK_PADDING;
	thread->ring1_stack = (word)(&ring_stacks[index][0] + 1);
	thread->space = space;
	thread->landing_pad = landing_pad;
	segments_begin(&thread->segments);
	thread->start = *start;
	thread->bits = bits;
	thread->serves = serves;
	thread->personality = (int)configured[SWITCH_PERSONALITY];
	thread->is_alive = thread->is_runnable = 1;
	thread->id = LAB_PID + 1 + index;
	set_registers(thread);
	return thread;
}

unsigned threads_count(void)
{
	return made;
}

struct thread *thread_by_number(unsigned number)
{
	return &threads[number];
}

unsigned thread_number(const struct thread *thread)
{
	return (unsigned)(thread - threads);
}

struct thread *thread_next(void)
{
	const unsigned here = thread_number(current);

	for (unsigned i = 1; i < made; i++) {
		struct thread *const next = &threads[(here + i) % made];
		if (next->is_runnable)
			return next;
	}
	return 0;
}

static void save(struct thread *thread)
{
	thread->program_rsp = program_rsp;
	thread->gate_frame = gate_frame;
	timers_save(&thread->timers);
	segments_save(&thread->segments);
	thread->shadow_stack = thread->shadow_stack ? shadow_stack_pointer() : 0;
	fpu_save(thread->registers);
}

static void load(const struct thread *thread)
{
	program_rsp = thread->program_rsp;
	gate_frame = thread->gate_frame;
	landing_pad = thread->landing_pad;
	hardware_point_to_stacks(thread->kernel_stack, thread->entry_stack, thread->ring1_stack);
	hardware_point_for(thread->bits, thread->serves);
	segments_load(&thread->segments);
	shadow_stack_enter(thread->shadow_stack);
	timers_load(&thread->timers);
	fpu_load(thread->registers);
}

/*
 * All of this happens on the stack of the thread that is left, which every address space maps. An NMI may come between any two
 * instructions: it has a stack of its own, and looks at nothing of a thread but CR3, which holds the kernel's tables.
 */
void thread_run(struct thread *to)
{
	struct thread *const from = current;
	const word flags = interrupts_off();

	if (from != &kernel_thread)
		save(from);
	else
		ibt_watch(1);
	space_enter(to->space);
	if (to != &kernel_thread)
		load(to);
	else
		ibt_watch(0);
	current = to;
	thread_switch(from, to);
	interrupts_restore(flags);
}

_Noreturn void thread_run_kernel(void)
{
	thread_run(&kernel_thread);
	panic("a thread that has ended goes on");
}

_Noreturn void thread_ends(struct thread *next)
{
	interrupts_off();
	current->is_alive = current->is_runnable = 0;
	space_enter(next->space);
	if (!task_has_space(current->space))
		space_end(current->space);
	thread_run(next);
	panic("a thread that has ended goes on");
}

void threads_end(void)
{
	made = 0;
	tasks_reset();
	space_end_all();
}

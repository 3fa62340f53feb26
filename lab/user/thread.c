/* Threads: how one is made, and what belongs to it besides the registers of the kernel (entry/switch.S). */
#include "user/thread.h"
#include "entry/entry.h"
#include "entry/layout.h"
#include "entry/steps/steps.h"
#include "mach/start.h"
#include "user/user.h"

_Static_assert(offsetof(struct thread, rsp) == THREAD_RSP, "thread_switch");

static struct thread kernel_thread = {.space = &kernel_space};
struct thread *current = &kernel_thread;
static struct thread threads[MOST_THREADS];
static unsigned made;

void thread_switch(struct thread *from, struct thread *to);
extern const uint8_t thread_begin[];

/* What thread_switch pops. */
struct switch_frame {
	uint64_t rflags, r15, r14, r13, r12, rbp, rbx, rip;
};

#define RFLAGS_ONE 2 /* a bit that is always set */

/* What the distances of stacks from their ends are drawn from; 0: none. */
static uint64_t layout;

void threads_set_layout(uint64_t drawn_from)
{
	layout = drawn_from;
}

/* The top of a stack of this number. */
static uint64_t top_of_stack(const void *end, unsigned number)
{
	const uint64_t drawn = random_mixed(random_mixed(layout) + number * RANDOM_STEP);

	return (uint64_t)end - (layout ? drawn % STACK_ROOM & ~(STACK_STEP - 1ul) : 0);
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

struct thread *thread_new(const struct frame *start, int bits, int serves, uint64_t landing_pad)
{
	struct thread *const thread = unused();

	if (!thread)
		return 0;
	const unsigned index = thread_number(thread);
	const uint64_t kernel_stack_top = top_of_stack(&kernel_stacks[index] + 1, 2 * index);
	struct switch_frame *frame = (struct switch_frame *)kernel_stack_top - 1;
	*frame = (struct switch_frame){
	    .rflags = RFLAGS_ONE,
	    .rbx = (uint64_t)&thread->start,
	    .rip = (uint64_t)thread_begin,
	};
	__builtin_memset(thread, 0, offsetof(struct thread, registers));
	thread->rsp = (uint64_t)frame;
	thread->kernel_stack = kernel_stack_top;
	thread->entry_stack = top_of_stack(&entry_stacks[index] + 1, 2 * index + 1);
	thread->space = space;
	thread->landing_pad = landing_pad;
	thread->ds = thread->es = SELECTOR_USER_DATA;
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

/* A base cannot be told from its selector: 64-bit programs set it apart. */
static void save_segments(struct thread *thread)
{
	__asm__ volatile("mov %%ds, %0; mov %%es, %1; mov %%fs, %2; mov %%gs, %3"
			 : "=m"(thread->ds), "=m"(thread->es), "=m"(thread->fs), "=m"(thread->gs));
	thread->fs_base = rdmsr(MSR_FS_BASE);
	thread->gs_base = gs_base();
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		thread->tls[i] = tables_tls(i);
}

/*
 * Each selector was in use with these descriptors (set_thread_area loads a segment anew when it changes its descriptor), so none of
 * them faults. Loading FS and GS changes their bases, which therefore come last. The LDT is the same for all.
 */
static void load_segments(const struct thread *thread)
{
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		tables_set_tls(i, thread->tls[i]);
	__asm__ volatile("mov %0, %%ds; mov %1, %%es; mov %2, %%fs; mov %3, %%gs"
			 :
			 : "m"(thread->ds), "m"(thread->es), "m"(thread->fs), "m"(thread->gs)
			 : "memory");
	wrmsr(MSR_FS_BASE, thread->fs_base);
	gs_begin(thread->gs_base);
}

static void save(struct thread *thread)
{
	thread->program_rsp = program_rsp;
	thread->gate_frame = gate_frame;
	thread->landing_pad = landing_pad;
	timers_save(&thread->timers);
	save_segments(thread);
	thread->shadow_stack = thread->shadow_stack ? shadow_stack_pointer() : 0;
	fpu_save(thread->registers);
}

static void load(const struct thread *thread)
{
	program_rsp = thread->program_rsp;
	gate_frame = thread->gate_frame;
	landing_pad = thread->landing_pad;
	hardware_point_to_stacks(thread->kernel_stack, thread->entry_stack);
	tss_set_ring_stacks(thread_number(thread));
	hardware_point_for(thread->bits, thread->serves);
	load_segments(thread);
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
	const uint64_t flags = interrupts_off();

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

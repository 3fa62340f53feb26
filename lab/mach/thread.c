/* Threads of tasks: made, given registers, begun, ended. */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "mach/task.h"
#include "mach/thread.h"
#include "user/thread.h"
#include "user/user.h"

/* What thread_set_state is given, of either width (mach/i386/thread_status.h and mach/x86_64/thread_status.h: i386_thread_state). */
struct state_32 {
	uint32_t gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, eip, cs, eflags, user_esp, ss;
};
struct state_64 {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax, rip;
	uint64_t cs, rflags, user_rsp, ss;
};
_Static_assert(sizeof(struct state_32) == 68 && sizeof(struct state_64) == 168, "i386_THREAD_STATE_COUNT");

/* The flags that a program may choose: CF, PF, AF, ZF, SF, DF, OF. */
#define RFLAGS_CHOSEN 0xcd5ul

struct thread *thread_of_port(const struct port *port)
{
	return port->is_alive && port->object == OBJECT_THREAD ? thread_by_number(port->number) : 0;
}

static int is_of(const struct thread *thread, const struct task *task)
{
	return thread->is_alive && thread->mach.task == task;
}

/* One that the task has already, the current one if it is the task's; null if it has none. */
static const struct thread *other_of(const struct task *task)
{
	if (current->mach.task == task)
		return current;
	for (unsigned i = 0; i < threads_count(); i++)
		if (is_of(thread_by_number(i), task))
			return thread_by_number(i);
	return 0;
}

/* What all threads of a task have alike. A task that no program was loaded into has no landing pad; else it is as the one that asks. */
static void be_like_others(struct thread *thread, const struct task *task)
{
	const struct thread *const other = other_of(task), *const like = other ? other : current;

	thread->serves = like->serves;
	calls_reset_thread(thread, like->settings.name);
	if (!other)
		return;
	thread->landing_pad = other->landing_pad;
	thread->id = other->id;
}

/* What it could not send yet is destroyed; what it was woken to receive, another may. */
static void thread_stop(struct thread *thread)
{
	struct message *const unsent = thread->mach.message;
	const struct port *const offered =
	    thread->mach.waits || thread->mach.is_sender ? 0 : thread->mach.waits_for;

	thread->mach.message = 0;
	thread->mach.waits = 0;
	thread->mach.waits_for = 0;
	thread->is_runnable = 0;
	if (unsent)
		message_destroy(unsent, 0);
	if (offered)
		message_offer(offered);
}

/* The current one goes on until it has found another to run. */
static void thread_forget(struct thread *thread)
{
	port_ends(thread->mach.self);
	if (thread != current)
		thread->is_alive = 0;
}

uint32_t task_thread_create(struct task *task, struct thread **made)
{
	const int is_wide = task->width == 64;
	const struct frame begins = {
	    .cs = is_wide ? SELECTOR_USER_CODE_64 : SELECTOR_USER_CODE_32,
	    .flags = RFLAGS_PROGRAM,
	    FRAME_SEGMENTS.ss = SELECTOR_USER_DATA,
	};
	uint64_t shadow_stack;
	struct port *const self = port_new(OBJECT_THREAD, 0, current->mach.task);
	struct thread *const thread = self ? thread_new(&begins, (int)task->width, 0, 0) : 0;

	if (self && !thread)
		port_ends(self);
	if (!thread)
		return KERN_RESOURCE_SHORTAGE;
	self->number = thread_number(thread);
	thread->is_runnable = 0;
	thread->space = task->space;
	be_like_others(thread, task);
	thread->mach = (struct mach_thread){.task = task, .self = self, .is_suspended = 1};
	if (task_make_shadow_stack(task, &shadow_stack)) {
		thread_stop(thread);
		thread_forget(thread);
		return KERN_RESOURCE_SHORTAGE;
	}
	thread->shadow_stack = thread->shadow_top = shadow_stack;
	*made = thread;
	return KERN_SUCCESS;
}

static struct state_64 widened(const struct state_32 *state)
{
	return (struct state_64){
	    .rdi = state->edi,
	    .rsi = state->esi,
	    .rbp = state->ebp,
	    .rbx = state->ebx,
	    .rdx = state->edx,
	    .rcx = state->ecx,
	    .rax = state->eax,
	    .rip = state->eip,
	    .rflags = state->eflags,
	    .user_rsp = state->user_esp,
	};
}

static void set(struct frame *frame, const struct state_64 *state)
{
#ifdef __x86_64__
	frame->r8 = state->r8;
	frame->r9 = state->r9;
	frame->r10 = state->r10;
	frame->r11 = state->r11;
	frame->r12 = state->r12;
	frame->r13 = state->r13;
	frame->r14 = state->r14;
	frame->r15 = state->r15;
#endif
	frame->di = state->rdi;
	frame->si = state->rsi;
	frame->bp = state->rbp;
	frame->bx = state->rbx;
	frame->dx = state->rdx;
	frame->cx = state->rcx;
	frame->ax = state->rax;
	frame->ip = state->rip;
	frame->flags = (state->rflags & RFLAGS_CHOSEN) | RFLAGS_PROGRAM;
	frame->sp = state->user_rsp;
}

/*
 * Selectors are those of every program, as there. No rip beyond a program's addresses comes to iretq: at a non-canonical one it would
 * fault in ring 0 (SDM vol. 2, IRET).
 */
uint32_t thread_set_state(struct thread *thread, uint32_t flavor, const uint8_t *bytes, uint32_t numbers)
{
	struct state_32 narrow;
	struct state_64 wide;
	const int is_wide = thread->bits == 64;
	const uint64_t needed = is_wide ? sizeof(wide) : sizeof(narrow);

	if (flavor != FLAVOR_THREAD_STATE || numbers * sizeof(uint32_t) < needed || thread == current)
		return KERN_INVALID_ARGUMENT;
	if (!thread->mach.is_suspended)
		return KERN_FAILURE;
	if (is_wide) {
		__builtin_memcpy(&wide, bytes, sizeof(wide));
	} else {
		__builtin_memcpy(&narrow, bytes, sizeof(narrow));
		wide = widened(&narrow);
	}
	if (wide.rip >= thread->space->end)
		return KERN_INVALID_ARGUMENT;
	set(&thread->start, &wide);
	return KERN_SUCCESS;
}

uint32_t thread_resume(struct thread *thread)
{
	if (!thread->mach.is_suspended)
		return KERN_FAILURE;
	thread->mach.is_suspended = 0;
	thread->is_runnable = 1;
	return KERN_SUCCESS;
}

void threads_stop(const struct task *task)
{
	for (unsigned i = 0; i < threads_count(); i++)
		if (is_of(thread_by_number(i), task))
			thread_stop(thread_by_number(i));
}

void threads_forget(const struct task *task)
{
	for (unsigned i = 0; i < threads_count(); i++)
		if (is_of(thread_by_number(i), task))
			thread_forget(thread_by_number(i));
}

void thread_terminate(struct thread *thread)
{
	if (thread->shadow_top)
		task_drop_shadow_stack(thread->mach.task, thread->shadow_top);
	thread_stop(thread);
	thread_forget(thread);
	if (thread == current)
		program_thread_ends();
}

/*
 * What a program of Mach finds besides what every program finds (user/start.c): its task, and in the first one the ports that stand for
 * the machine. Arguments like those of a boot script become the names of these ports.
 */
#include "mach/start.h"
#include "mach/task.h"
#include "user/thread.h"

/* A new task has no names, so that these are 1, 2, and from 3 on those of the tasks that run beside the first. */
static void give(struct task *task, struct port *port)
{
	int is_full;

	right_give(task, port_make_send(port), &is_full);
}

int mach_begin(struct thread *thread)
{
	thread->mach.task = task_new(thread->space, (unsigned)thread->bits, 0);
	if (thread->mach.task)
		thread->mach.self = port_new(OBJECT_THREAD, thread_number(thread), 0);
	return thread->mach.self != 0;
}

void mach_begin_first(struct thread *first)
{
	struct task *const task = first->mach.task;

	give(task, port_of_host(1));
	give(task, port_of_devices());
	for (unsigned i = 0; i < threads_count(); i++)
		if (thread_by_number(i) != first)
			give(task, thread_by_number(i)->mach.task->self);
	mach_time_update();
}

static int is_same(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

const char *mach_argument(const char *word)
{
	static const struct {
		const char *word, *means;
	} words[] = {
	    {"${host-port}", "1"},
	    {"${device-port}", "2"},
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_same(word, words[i].word))
			return words[i].means;
	return word;
}

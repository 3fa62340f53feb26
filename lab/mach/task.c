/* Tasks, made and ended, and the ports that stand for them, for threads and for the machine. */
#include "mach/task.h"
#include "mach/thread.h"
#include "user/thread.h"
#include "user/user.h"

static struct task tasks[MOST_TASKS];
static struct port *host, *host_private, *devices;

void tasks_reset(void)
{
	if (!host)
		return; /* there was none */
	for (unsigned i = 0; i < MOST_TASKS; i++)
		tasks[i].is_used = 0;
	host = host_private = devices = 0;
	devices_reset();
	messages_reset();
	ports_reset();
}

/* What the machine has: made with the first task. */
static void make_machine(void)
{
	if (host)
		return;
	host = port_new(OBJECT_HOST, 0, 0);
	host_private = port_new(OBJECT_HOST_PRIVATE, 0, 0);
	devices = port_new(OBJECT_DEVICES, 0, 0);
}

static unsigned messages_of(const struct task *task)
{
	unsigned count = 0;

	for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++)
		count += task->messages[kind];
	return count;
}

/* Not one whose ports or messages are still somewhere: they are charged to it. */
static struct task *unused(void)
{
	for (unsigned i = 0; i < MOST_TASKS; i++) {
		const struct task *const task = &tasks[i];
		if (!task->is_used || (!task->is_alive && !task->ports && !messages_of(task)))
			return &tasks[i];
	}
	return 0;
}

struct task *task_new(struct address_space *of, unsigned width, struct task *charged)
{
	make_machine();
	struct task *const task = unused();
	struct port *const self = task ? port_new(OBJECT_TASK, (uint32_t)(task - tasks), charged) : 0;
	if (!self)
		return 0;
	task->is_used = task->is_alive = 1;
	task->width = width;
	task->space = of;
	task->self = self;
	task->ports = 0;
	__builtin_memset(task->messages, 0, sizeof(task->messages));
	names_reset(&task->names);
	return task;
}

/* Null unless it lives. */
struct task *task_by_number(uint32_t number)
{
	return tasks[number].is_used && tasks[number].is_alive ? &tasks[number] : 0;
}

uint32_t task_number(const struct task *task)
{
	return (uint32_t)(task - tasks);
}

struct task *task_of_port(const struct port *port)
{
	return port->is_alive && port->object == OBJECT_TASK ? task_by_number(port->number) : 0;
}

struct task *task_named(uint32_t name)
{
	const struct entry *const entry = name_find(&current->mach.task->names, name);

	return entry && entry->type & TYPE_SEND ? task_of_port(entry->port) : 0;
}

struct port *port_of_host(int is_private)
{
	return is_private ? host_private : host;
}

struct port *port_of_devices(void)
{
	return devices;
}

void task_dies(struct task *task)
{
	if (!task->is_alive)
		return;
	threads_stop(task);
	rights_end(task);
	task->is_alive = 0;
	port_ends(task->self);
	threads_forget(task);
	task->space = 0;
}

int task_has_space(const struct address_space *of)
{
	for (unsigned i = 0; i < MOST_TASKS; i++)
		if (tasks[i].is_used && tasks[i].space == of)
			return 1;
	return 0;
}

uint32_t task_create(struct task *parent, int inherits, struct task **made)
{
	/* Memory that two tasks have until one writes to it needs counts of pages, which the lab does not have. */
	struct address_space *const of =
	    inherits ? 0 : space_prepare(parent->space->bits, parent->space->map_top);

	if (!of)
		return KERN_RESOURCE_SHORTAGE;
	*made = task_new(of, parent->width, current->mach.task);
	if (*made)
		return KERN_SUCCESS;
	space_end(of);
	return KERN_RESOURCE_SHORTAGE;
}

uint32_t task_terminate(struct task *task)
{
	struct address_space *const of = task->space;

	if (task == current->mach.task)
		program_ends((struct end){LAB_END_EXITED, {0}});
	task_dies(task);
	space_end(of);
	return KERN_SUCCESS;
}

void mach_program_ends(struct thread *thread)
{
	if (thread->mach.task)
		task_dies(thread->mach.task);
}

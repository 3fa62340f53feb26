/* Traps that do what requests to a task's port do, too. Without a task they say so in a way that makes a program send the request. */
#include "mach/task.h"
#include "mach/trap.h"
#include "user/thread.h"

/* A word of the caller's width: addresses, sizes. */
static int read_word(uint64_t from, uint64_t *word)
{
	*word = 0;
	return user_read(word, from, current->mach.task->width / 8) != 0;
}

static void write_word(uint64_t to, uint64_t word)
{
	user_write(to, &word, current->mach.task->width / 8);
}

uint32_t do_mach_port_allocate(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);
	uint32_t name;

	if (!task)
		return SEND_INTERRUPTED;
	const uint32_t result = right_allocate(task, (uint32_t)words[1], &name);
	/* The name is lost if there is no room for it. */
	if (!result)
		user_put_4(words[2], name);
	return result;
}

uint32_t do_mach_port_allocate_name(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);

	return task ? right_allocate_at(task, (uint32_t)words[1], (uint32_t)words[2]) : SEND_INTERRUPTED;
}

uint32_t do_mach_port_deallocate(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);

	return task ? right_drop(task, (uint32_t)words[1]) : SEND_INTERRUPTED;
}

uint32_t do_mach_port_insert_right(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]), *const own = current->mach.task;
	const uint32_t name = (uint32_t)words[1], from = (uint32_t)words[2], type = (uint32_t)words[3];

	if (!task)
		return SEND_INTERRUPTED;
	if (type < ITEM_MOVE_RECEIVE || type > ITEM_MAKE_SEND_ONCE || name == NAME_NULL || name == NAME_DEAD)
		return KERN_INVALID_VALUE;
	if (from == NAME_NULL || from == NAME_DEAD)
		return KERN_INVALID_CAPABILITY;
	struct entry *const entry = name_find(&own->names, from);
	if (!entry)
		return KERN_INVALID_NAME;
	if (!right_may(entry, type))
		return KERN_INVALID_RIGHT;
	const struct right right = right_take(own, entry, type);
	if (!port_is_real(right.port))
		return KERN_INVALID_CAPABILITY;
	const uint32_t result = right_give_as(task, name, right);
	if (result)
		right_destroy(right);
	return result;
}

uint32_t do_vm_allocate(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);
	uint64_t address;

	if (!task)
		return SEND_INTERRUPTED;
	/* As there, a pointer that is none is no error, and nothing is allocated. */
	if (read_word(words[1], &address))
		return KERN_SUCCESS;
	const uint32_t result = task_vm_allocate(task, &address, words[2], (uint32_t)words[3] != 0);
	if (!result)
		write_word(words[1], address);
	return result;
}

uint32_t do_vm_deallocate(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);

	return task ? task_vm_deallocate(task, words[1], words[2]) : SEND_INTERRUPTED;
}

/* The memory object is copied in as by COPY_SEND: its port stays alive as long as the name does. */
static uint32_t find_object(uint32_t name, struct port **object)
{
	*object = PORT_NULL;
	if (name == NAME_NULL || name == NAME_DEAD)
		return name == NAME_NULL ? KERN_SUCCESS : KERN_INVALID_NAME;
	const struct entry *const entry = name_find(&current->mach.task->names, name);
	if (!entry)
		return KERN_INVALID_NAME;
	if (!(entry->type & TYPE_SEND))
		return KERN_INVALID_RIGHT;
	*object = entry->port;
	return KERN_SUCCESS;
}

uint32_t do_vm_map(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);
	struct map map = {
	    .bytes = words[2],
	    .mask = words[3],
	    .anywhere = (uint32_t)words[4],
	    .offset = words[6],
	    .copy = (uint32_t)words[7],
	    .protection = (uint32_t)words[8],
	    .most_protection = (uint32_t)words[9],
	    .inheritance = (uint32_t)words[10],
	};

	if (!task)
		return SEND_INTERRUPTED;
	const uint32_t problem = find_object((uint32_t)words[5], &map.object);
	if (problem)
		return problem;
	if (read_word(words[1], &map.address))
		return KERN_SUCCESS;
	const uint32_t result = task_vm_map(task, &map);
	if (!result)
		write_word(words[1], map.address);
	return result;
}

uint32_t do_task_create(const uint64_t *words)
{
	struct task *const parent = task_named((uint32_t)words[0]);
	struct task *made;
	int is_full;

	if (!parent)
		return SEND_INTERRUPTED;
	const uint32_t result = task_create(parent, (uint32_t)words[1] != 0, &made);
	if (!result)
		user_put_4(words[2], right_give(current->mach.task, port_make_send(made->self), &is_full));
	return result;
}

uint32_t do_task_terminate(const uint64_t *words)
{
	struct task *const task = task_named((uint32_t)words[0]);

	return task ? task_terminate(task) : SEND_INTERRUPTED;
}

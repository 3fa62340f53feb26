/* Rights: between the names of a task and messages, and what a task may do to its own. */
#include "mach/port.h"
#include "mach/message.h"
#include "mach/task.h"
#include "user/thread.h"

int right_may(const struct entry *entry, unsigned item)
{
	switch (item) {
	case ITEM_MAKE_SEND:
	case ITEM_MAKE_SEND_ONCE:
	case ITEM_MOVE_RECEIVE:
		return (entry->type & TYPE_RECEIVE) != 0;
	case ITEM_COPY_SEND:
	case ITEM_MOVE_SEND:
		return (entry->type & (TYPE_SEND | TYPE_DEAD_NAME)) != 0;
	case ITEM_MOVE_SEND_ONCE:
		return (entry->type & (TYPE_SEND_ONCE | TYPE_DEAD_NAME)) != 0;
	default:
		return 0;
	}
}

unsigned right_received_as(unsigned item)
{
	switch (item) {
	case ITEM_MOVE_RECEIVE:
		return ITEM_PORT_RECEIVE;
	case ITEM_MOVE_SEND_ONCE:
	case ITEM_MAKE_SEND_ONCE:
		return ITEM_PORT_SEND_ONCE;
	default:
		return ITEM_PORT_SEND;
	}
}

/* Whoever wanted to be told of the port's death is told that the name is gone. */
static void request_ends(struct entry *entry, uint32_t name)
{
	struct port *const told = entry->request;

	entry->request = 0;
	if (told)
		notify(told, NOTIFY_PORT_DELETED, name);
}

/* One right less under a name; without any the name is free. What the right was is the caller's. */
static void strip(struct task *task, struct entry *entry, unsigned type)
{
	struct port *const port = entry->port;
	const uint32_t name = entry->name;

	entry->type &= ~type;
	if (entry->type & (TYPE_SEND | TYPE_RECEIVE)) {
		if (type == TYPE_SEND)
			request_ends(entry, name);
		return;
	}
	if (port && type != TYPE_SEND_ONCE)
		port->names[task_number(task)] = 0;
	request_ends(entry, name);
	entry->port = 0;
	name_free(&task->names, entry);
}

static struct right take_dead(struct task *task, struct entry *entry, unsigned item)
{
	if (item != ITEM_COPY_SEND && !--entry->references)
		strip(task, entry, TYPE_DEAD_NAME);
	return (struct right){PORT_DEAD, right_received_as(item)};
}

/* A name that has both rights holds two references to the port, as it counts for both. */
struct right right_take(struct task *task, struct entry *entry, unsigned item)
{
	struct port *const port = entry->port;

	if (entry->type & TYPE_DEAD_NAME)
		return take_dead(task, entry, item);
	switch (item) {
	case ITEM_MAKE_SEND:
		port->make_sends++;
		/* fallthrough */
	case ITEM_COPY_SEND:
		return port_make_send(port);
	case ITEM_MAKE_SEND_ONCE:
		port->once_rights++;
		port_refer(port);
		break;
	case ITEM_MOVE_SEND:
		if (entry->references > 1) {
			entry->references--;
			return port_make_send(port);
		}
		strip(task, entry, TYPE_SEND);
		break;
	case ITEM_MOVE_SEND_ONCE:
		strip(task, entry, TYPE_SEND_ONCE);
		break;
	default:
		strip(task, entry, TYPE_RECEIVE);
		port_moves(port, 0);
		wait_receivers_end(port);
	}
	return (struct right){port, right_received_as(item)};
}

/* The port's death is its own affair; here a name of it changes. */
void entry_dies(struct task *task, struct entry *entry)
{
	struct port *const port = entry->port, *const told = entry->request;

	entry->request = 0;
	if (entry->type == TYPE_SEND_ONCE) {
		port->once_rights--;
	} else {
		port->send_rights--;
		port->names[task_number(task)] = 0;
	}
	entry->type = TYPE_DEAD_NAME;
	entry->port = 0;
	if (told) {
		entry->references++;
		notify(told, NOTIFY_DEAD_NAME, entry->name);
	}
	port_forget(port);
}

/* A send right comes to a name that has one: there is one right less, and a reference more. */
static void coalesce(struct entry *entry)
{
	if (entry->references < MOST_SEND_REFERENCES)
		entry->references++;
	send_right_ends(entry->port);
}

/* To a name that is the port's already, or new. */
static void give_to(struct task *task, struct entry *entry, struct right right)
{
	if (right.type == ITEM_PORT_SEND && entry->type & TYPE_SEND) {
		coalesce(entry);
		return;
	}
	entry->port = right.port;
	if (right.type == ITEM_PORT_RECEIVE) {
		entry->type |= TYPE_RECEIVE;
		port_moves(right.port, task);
		if (entry->references == 0)
			entry->references = 1;
	} else {
		entry->type |= right.type == ITEM_PORT_SEND ? TYPE_SEND : TYPE_SEND_ONCE;
		entry->references = 1;
	}
	if (right.type != ITEM_PORT_SEND_ONCE)
		right.port->names[task_number(task)] = entry->name;
}

uint32_t right_give(struct task *task, struct right right, int *is_full)
{
	struct entry *entry = 0;

	*is_full = 0;
	if (port_is_real(right.port) && !right.port->is_alive) {
		right_destroy(right);
		return NAME_DEAD;
	}
	if (!port_is_real(right.port))
		return port_number(right.port);
	if (right.type != ITEM_PORT_SEND_ONCE && right.port->names[task_number(task)])
		entry = name_find(&task->names, right.port->names[task_number(task)]);
	if (!entry)
		entry = name_new(&task->names);
	if (!entry) {
		*is_full = 1;
		right_destroy(right);
		return NAME_NULL;
	}
	give_to(task, entry, right);
	return entry->name;
}

uint32_t right_give_as(struct task *task, uint32_t name, struct right right)
{
	struct entry *entry = name_find(&task->names, name);
	const uint32_t has = right.type == ITEM_PORT_SEND_ONCE ? 0 : right.port->names[task_number(task)];

	if (has && has != name)
		return KERN_RIGHT_EXISTS;
	if (entry && (right.type == ITEM_PORT_SEND_ONCE || entry->port != right.port))
		return KERN_NAME_EXISTS;
	if (entry && entry->type & TYPE_SEND && right.type == ITEM_PORT_SEND &&
	    entry->references == MOST_SEND_REFERENCES)
		return KERN_UREFS_OVERFLOW;
	if (!entry)
		entry = name_new_at(&task->names, name);
	if (!entry)
		return KERN_RESOURCE_SHORTAGE;
	give_to(task, entry, right);
	return KERN_SUCCESS;
}

/* The receive right under a name ends, and the port with it. A send right there becomes a dead name. */
static void receive_right_ends(struct task *task, struct entry *entry)
{
	struct port *const port = entry->port;

	strip(task, entry, TYPE_RECEIVE);
	port_dies(port);
	port_forget(port);
}

static void send_rights_end(struct task *task, struct entry *entry)
{
	struct port *const port = entry->port;

	strip(task, entry, TYPE_SEND);
	send_right_ends(port);
}

static void once_right_ends(struct task *task, struct entry *entry)
{
	struct port *const port = entry->port;

	strip(task, entry, TYPE_SEND_ONCE);
	right_destroy((struct right){port, ITEM_PORT_SEND_ONCE});
}

static uint32_t change_references(struct task *task, struct entry *entry, unsigned type, int32_t change,
				  uint32_t most)
{
	const int64_t now = (int64_t)entry->references + change;

	if (now < 0)
		return KERN_INVALID_VALUE;
	if (now > most)
		return KERN_UREFS_OVERFLOW;
	if (now)
		entry->references = (uint32_t)now;
	else if (type == TYPE_SEND)
		send_rights_end(task, entry);
	else
		strip(task, entry, type);
	return KERN_SUCCESS;
}

uint32_t right_change(struct task *task, uint32_t name, uint32_t right, int32_t change)
{
	struct entry *const entry = name_find(&task->names, name);

	if (right >= RIGHTS)
		return KERN_INVALID_VALUE;
	if (!entry)
		return KERN_INVALID_NAME;
	if (!(entry->type & TYPE_OF(right)))
		return KERN_INVALID_RIGHT;
	if (right == RIGHT_SEND)
		return change_references(task, entry, TYPE_SEND, change, MOST_SEND_REFERENCES);
	if (right == RIGHT_DEAD_NAME)
		return change_references(task, entry, TYPE_DEAD_NAME, change, MOST_DEAD_REFERENCES);
	if (change != 0 && change != -1)
		return KERN_INVALID_VALUE;
	if (!change)
		return KERN_SUCCESS;
	if (right == RIGHT_RECEIVE)
		receive_right_ends(task, entry);
	else if (right == RIGHT_SEND_ONCE)
		once_right_ends(task, entry);
	else
		strip(task, entry, TYPE_PORT_SET);
	return KERN_SUCCESS;
}

uint32_t right_drop(struct task *task, uint32_t name)
{
	struct entry *const entry = name_find(&task->names, name);

	if (!entry)
		return KERN_INVALID_NAME;
	if (entry->type & TYPE_SEND)
		return right_change(task, name, RIGHT_SEND, -1);
	if (entry->type & TYPE_SEND_ONCE)
		return right_change(task, name, RIGHT_SEND_ONCE, -1);
	if (entry->type & TYPE_DEAD_NAME)
		return right_change(task, name, RIGHT_DEAD_NAME, -1);
	return KERN_INVALID_RIGHT;
}

uint32_t right_destroy_all(struct task *task, uint32_t name)
{
	struct entry *entry = name_find(&task->names, name);

	if (!entry)
		return KERN_INVALID_NAME;
	if (entry->type & TYPE_SEND)
		send_rights_end(task, entry);
	entry = name_find(&task->names, name);
	if (!entry)
		return KERN_SUCCESS;
	if (entry->type & TYPE_RECEIVE)
		receive_right_ends(task, entry);
	else if (entry->type & TYPE_SEND_ONCE)
		once_right_ends(task, entry);
	else
		strip(task, entry, entry->type);
	return KERN_SUCCESS;
}

uint32_t right_references(struct task *task, uint32_t name, uint32_t right, uint32_t *count)
{
	const struct entry *const entry = name_find(&task->names, name);

	if (right >= RIGHTS)
		return KERN_INVALID_VALUE;
	if (!entry)
		return KERN_INVALID_NAME;
	if (!(entry->type & TYPE_OF(right)))
		*count = 0;
	else
		*count = right == RIGHT_SEND || right == RIGHT_DEAD_NAME ? entry->references : 1;
	return KERN_SUCCESS;
}

/* What mach_port_allocate makes, under a name that is free and has none of these yet. */
static uint32_t allocate_under(struct task *task, uint32_t right, struct entry *entry)
{
	if (!entry)
		return KERN_RESOURCE_SHORTAGE;
	entry->references = 1;
	entry->type = TYPE_OF(right);
	if (right != RIGHT_RECEIVE)
		return KERN_SUCCESS;
	struct port *const port = port_new(OBJECT_NONE, 0, task);
	if (!port) {
		name_free(&task->names, entry);
		return KERN_RESOURCE_SHORTAGE;
	}
	port_moves(port, task);
	port->names[task_number(task)] = entry->name;
	entry->port = port;
	return KERN_SUCCESS;
}

static int can_be_allocated(uint32_t right)
{
	return right == RIGHT_RECEIVE || right == RIGHT_PORT_SET || right == RIGHT_DEAD_NAME;
}

uint32_t right_allocate(struct task *task, uint32_t right, uint32_t *name)
{
	if (!can_be_allocated(right))
		return KERN_INVALID_VALUE;
	struct entry *const entry = name_new(&task->names);
	const uint32_t result = allocate_under(task, right, entry);
	if (!result)
		*name = entry->name;
	return result;
}

uint32_t right_allocate_at(struct task *task, uint32_t right, uint32_t name)
{
	if (!can_be_allocated(right) || name == NAME_NULL || name == NAME_DEAD)
		return KERN_INVALID_VALUE;
	if (name_find(&task->names, name))
		return KERN_NAME_EXISTS;
	return allocate_under(task, right, name_new_at(&task->names, name));
}

void rights_end(struct task *task)
{
	for (unsigned i = 0; i < MOST_NAMES + MOST_CHOSEN_NAMES; i++) {
		struct entry *const entry = &task->names.entries[i];
		/* A send right that outlives its port for a moment is a dead name then. */
		while (entry->type)
			right_destroy_all(task, entry->name);
	}
}

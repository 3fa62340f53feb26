/* Requests about names and rights, to the port of a task. */
#include "mach/server.h"

static uint32_t insert(struct task *task, struct request *request)
{
	const uint32_t name = (uint32_t)request->in[0];
	const struct right right = {port_by_number((uint32_t)request->in[1]), request->types[1]};

	if (name == NAME_NULL || name == NAME_DEAD)
		return KERN_INVALID_VALUE;
	if (!port_is_real(right.port))
		return KERN_INVALID_CAPABILITY;
	const uint32_t result = right_give_as(task, name, right);
	if (!result)
		request->in[1] = 0;
	return result;
}

/* No send rights are left, or none were ever made: told at once, unless more were made than the caller knows of. */
static uint32_t request_no_senders(struct entry *entry, uint32_t sync, struct port *told,
				   struct request *request)
{
	struct port *const port = entry->port;

	if (!(entry->type & TYPE_RECEIVE))
		return KERN_INVALID_RIGHT;
	request->right = (struct right){port->no_senders, ITEM_PORT_SEND_ONCE};
	port->no_senders = 0;
	if (told && !port->send_rights && sync <= port->make_sends)
		notify(told, NOTIFY_NO_SENDERS, port->make_sends);
	else
		port->no_senders = told;
	return KERN_SUCCESS;
}

static uint32_t request_dead_name(struct entry *entry, uint32_t sync, struct port *told,
				  struct request *request)
{
	if (entry->type & TYPE_DEAD_NAME) {
		if (!sync || !told)
			return KERN_INVALID_ARGUMENT;
		entry->references += entry->references < MOST_DEAD_REFERENCES;
		notify(told, NOTIFY_DEAD_NAME, entry->name);
		return KERN_SUCCESS;
	}
	if (!(entry->type & (TYPE_SEND | TYPE_SEND_ONCE)))
		return KERN_INVALID_RIGHT;
	request->right = (struct right){entry->request, ITEM_PORT_SEND_ONCE};
	entry->request = told;
	return KERN_SUCCESS;
}

static uint32_t request_notification(struct task *task, struct request *request)
{
	struct entry *const entry = name_find(&task->names, (uint32_t)request->in[0]);
	const uint32_t id = (uint32_t)request->in[1], sync = (uint32_t)request->in[2];
	struct port *const told = port_by_number((uint32_t)request->in[3]);
	uint32_t result = KERN_INVALID_VALUE;

	if (!entry)
		return KERN_INVALID_NAME;
	if (told == PORT_DEAD)
		return KERN_INVALID_CAPABILITY;
	if (id == NOTIFY_NO_SENDERS)
		result = request_no_senders(entry, sync, told, request);
	else if (id == NOTIFY_DEAD_NAME)
		result = request_dead_name(entry, sync, told, request);
	if (!result)
		request->in[3] = 0;
	return result;
}

static uint32_t tell_type(struct task *task, uint32_t name, uint32_t *type)
{
	const struct entry *const entry = name_find(&task->names, name);

	if (!entry)
		return KERN_INVALID_NAME;
	*type = entry->type | (entry->request ? TYPE_REQUEST : 0);
	return KERN_SUCCESS;
}

/* The port of a receive right; null with a result that says why there is none. */
static struct port *received_port(struct task *task, uint32_t name, uint32_t *result)
{
	const struct entry *const entry = name_find(&task->names, name);

	*result = !entry ? KERN_INVALID_NAME : entry->type & TYPE_RECEIVE ? KERN_SUCCESS : KERN_INVALID_RIGHT;
	return *result ? 0 : entry->port;
}

static uint32_t set_limit(struct task *task, uint32_t name, uint32_t limit)
{
	uint32_t result;
	struct port *const port = received_port(task, name, &result);

	if (limit > QUEUE_MOST)
		return KERN_INVALID_VALUE;
	if (port)
		port_set_limit(port, limit);
	return result;
}

static uint32_t tell_state(struct task *task, uint32_t name, struct request *request)
{
	uint32_t result;
	const struct port *const port = received_port(task, name, &result);

	if (!port)
		return result;
	const uint32_t state[STATE_NUMBERS] = {
	    0, /* no set */
	    port->sequence,
	    port->make_sends,
	    port->limit,
	    port->queued,
	    port->once_rights,
	    port->send_rights != 0,
	    0, /* nobody is told of its destruction */
	    port->no_senders != 0,
	};
	__builtin_memcpy(request->out, state, sizeof(state));
	return KERN_SUCCESS;
}

static uint32_t serve_task(uint32_t id, struct task *task, struct request *request)
{
	const uint32_t first = (uint32_t)request->in[0], second = (uint32_t)request->in[1];
	uint32_t number = 0, result = MIG_BAD_ID;

	switch (id) {
	case ID_PORT_ALLOCATE:
		result = right_allocate(task, first, &number);
		break;
	case ID_PORT_ALLOCATE_NAME:
		result = right_allocate_at(task, first, second);
		break;
	case ID_PORT_DESTROY:
		result = right_destroy_all(task, first);
		break;
	case ID_PORT_DEALLOCATE:
		result = right_drop(task, first);
		break;
	case ID_PORT_GET_REFS:
		result = right_references(task, first, second, &number);
		break;
	case ID_PORT_MOD_REFS:
		result = right_change(task, first, second, (int32_t)request->in[2]);
		break;
	case ID_PORT_NOTIFICATION:
		result = request_notification(task, request);
		break;
	case ID_PORT_INSERT_RIGHT:
		result = insert(task, request);
		break;
	case ID_PORT_TYPE:
		result = tell_type(task, first, &number);
		break;
	case ID_PORT_SET_LIMIT:
		result = set_limit(task, first, second);
		break;
	case ID_PORT_STATUS:
		return tell_state(task, first, request);
	}
	request->out[0] = number;
	return result;
}

static int is_about_ports(uint32_t id)
{
	return id >= ID_PORT_TYPE && id <= ID_PORT_STATUS;
}

uint32_t serve_port(uint32_t id, struct request *request)
{
	struct task *const task = task_of_port(request->to);

	if (!is_about_ports(id))
		return MIG_BAD_ID;
	return task ? serve_task(id, task, request) : KERN_INVALID_TASK;
}

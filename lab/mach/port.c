/* Ports: made, referred to, counted, and what becomes of all that when one dies. */
#include "mach/port.h"
#include "mach/message.h"
#include "mach/task.h"
#include "mach/thread.h"
#include "user/thread.h"

static struct port ports[MOST_PORTS];
static struct port *unused;
static unsigned fresh; /* none from here on was ever used */

/* Ports that are about to die, so that a chain of ports that are in each other's messages needs no stack. */
static struct port *dying;
static int are_dying;

void ports_reset(void)
{
	unused = dying = 0;
	fresh = 0;
	are_dying = 0;
}

struct port *port_new(enum port_object object, uint32_t number, struct task *charged)
{
	struct port *port = unused;

	if (charged && charged->ports == MOST_PORTS_OF_TASK)
		return 0;
	if (port)
		unused = port->next;
	else if (fresh < MOST_PORTS)
		port = &ports[fresh++];
	else
		return 0;
	__builtin_memset(port, 0, sizeof(*port));
	port->object = object;
	port->number = number;
	port->references = 1;
	port->is_alive = 1;
	port->limit = QUEUE_DEFAULT;
	port->charged = charged;
	if (charged)
		charged->ports++;
	return port;
}

void port_refer(struct port *port)
{
	port->references++;
}

void port_forget(struct port *port)
{
	if (--port->references)
		return;
	if (port->charged)
		port->charged->ports--;
	port->next = unused;
	unused = port;
}

uint32_t port_number(const struct port *port)
{
	return port_is_real(port) ? (uint32_t)(port - ports) + 1 : port == PORT_DEAD ? NAME_DEAD : NAME_NULL;
}

struct port *port_by_number(uint32_t number)
{
	if (number == NAME_DEAD)
		return PORT_DEAD;
	return number && number <= MOST_PORTS ? &ports[number - 1] : PORT_NULL;
}

struct right port_make_send(struct port *port)
{
	port->send_rights++;
	port_refer(port);
	return (struct right){port, ITEM_PORT_SEND};
}

void send_right_ends(struct port *port)
{
	struct port *const told = port->no_senders;

	if (!--port->send_rights && port->is_alive && told) {
		port->no_senders = 0;
		notify(told, NOTIFY_NO_SENDERS, port->make_sends);
	}
	port_forget(port);
}

void right_destroy(struct right right)
{
	if (!port_is_real(right.port))
		return;
	switch (right.type) {
	case ITEM_PORT_SEND:
		send_right_ends(right.port);
		return;
	case ITEM_PORT_SEND_ONCE:
		notify(right.port, NOTIFY_SEND_ONCE, 0);
		return;
	default:
		right.port->transit = 0;
		port_dies(right.port);
		port_forget(right.port);
	}
}

void once_right_is_used(struct port *port)
{
	port->once_rights--;
	port_forget(port);
}

void right_is_used(struct right right)
{
	if (!port_is_real(right.port))
		return;
	if (right.type == ITEM_PORT_SEND)
		send_right_ends(right.port);
	else
		once_right_is_used(right.port);
}

void port_moves(struct port *port, struct task *receiver)
{
	port->receiver = receiver;
	if (receiver)
		port->last_receiver = receiver;
	port->transit = 0;
	port->sequence = 0;
	port->make_sends = 0;
}

/* Names of a port that has died: of the send right that a task has, and of each send-once right. */
static void names_die(struct port *port)
{
	for (uint32_t number = 0; number < MOST_TASKS; number++) {
		struct task *const task = task_by_number(number);

		if (!task)
			continue;
		if (port->names[number])
			entry_dies(task, name_find(&task->names, port->names[number]));
		for (unsigned i = 0; port->once_rights && i < MOST_NAMES + MOST_CHOSEN_NAMES; i++) {
			struct entry *const entry = &task->names.entries[i];
			if (entry->type == TYPE_SEND_ONCE && entry->port == port)
				entry_dies(task, entry);
		}
	}
}

/* All who wait to send are done: their messages are destroyed. All who wait to receive are told. */
static void waiting_end(struct port *port)
{
	struct thread *waiting;

	while ((waiting = wait_oldest_sender(port))) {
		struct message *const message = waiting->mach.message;
		waiting->mach.message = 0;
		wait_ends(waiting, MSG_SUCCESS);
		message_destroy(message, 0);
	}
	wait_receivers_end(port);
}

static void die(struct port *port)
{
	struct port *const told = port->no_senders;

	port->no_senders = 0;
	if (told)
		notify(told, NOTIFY_SEND_ONCE, 0);
	names_die(port);
	while (port->first)
		message_destroy(message_get(port), 0);
	waiting_end(port);
	port_forget(port);
}

void port_dies(struct port *port)
{
	if (!port->is_alive)
		return;
	port->is_alive = 0;
	port->receiver = 0;
	port_refer(port);
	port->next = dying;
	dying = port;
	if (are_dying)
		return;
	are_dying = 1;
	while (dying) {
		struct port *const first = dying;
		dying = first->next;
		die(first);
	}
	are_dying = 0;
}

void port_ends(struct port *port)
{
	port_dies(port);
	port_forget(port);
}

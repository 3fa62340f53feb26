/* Queues of ports: sent, received, and what a port's owner is told. */
#include "mach/message.h"
#include "mach/task.h"
#include "user/thread.h"

void message_offer(const struct port *port)
{
	struct thread *const receiver = port->first ? wait_receiver(port) : 0;

	if (receiver)
		wait_ends(receiver, MSG_SUCCESS);
}

void message_put(struct port *port, struct message *message)
{
	message->next = 0;
	if (port->first)
		port->last->next = message;
	else
		port->first = message;
	port->last = message;
	port->queued++;
	message_offer(port);
}

/* Those that wait to send, in their order, as long as there is room. */
static void admit(struct port *port)
{
	struct thread *sender;

	while (port->queued < port->limit && (sender = wait_oldest_sender(port))) {
		struct message *const message = sender->mach.message;
		sender->mach.message = 0;
		wait_ends(sender, MSG_SUCCESS);
		message_put(port, message);
	}
}

struct message *message_get(struct port *port)
{
	struct message *const message = port->first;

	port->first = message->next;
	port->queued--;
	admit(port);
	return message;
}

void port_set_limit(struct port *port, uint32_t limit)
{
	port->limit = limit;
	admit(port);
}

static uint32_t wait_for_room(struct message *message, uint32_t option, uint32_t milliseconds)
{
	const int has_end = (option & OPTION_SEND_TIMEOUT) != 0;

	if (option & OPTION_SEND_NOTIFY)
		return SEND_NO_NOTIFY;
	if (has_end && !milliseconds)
		return SEND_TIMED_OUT;
	current->mach.message = message;
	const uint32_t result = wait_for(message->remote.port, 1, has_end, milliseconds, SEND_TIMED_OUT);
	current->mach.message = 0;
	return result;
}

uint32_t message_send(struct message *message, uint32_t option, uint32_t milliseconds)
{
	struct port *const port = message->remote.port;

	if (message->bits & BITS_CIRCULAR || !port->is_alive) {
		message_destroy(message, 0);
		return MSG_SUCCESS;
	}
	if (port->object != OBJECT_NONE) {
		server_serve(message);
		return MSG_SUCCESS;
	}
	if (port->queued >= port->limit && message->remote.type == ITEM_PORT_SEND)
		return wait_for_room(message, option, milliseconds);
	message_put(port, message);
	return MSG_SUCCESS;
}

static uint64_t item_of(unsigned width, unsigned name)
{
	return width == 64 ? name | 32ul << 8 | 1ul << 29 | 1ull << 32
			   : name | 32ul << 8 | 1ul << 16 | 1ul << 28;
}

/*
 * The message of a notification: a header, and but for one kind an item of a word. It has the width of the task that receives there, and
 * is of its share; where the right to receive is on its way, of the one that has sent it, which the message of the right keeps.
 */
static struct message *new_notification(struct port *to, uint32_t id, uint32_t value)
{
	struct task *const receiver = to->last_receiver;
	const unsigned width = receiver->width, word = width / 8;
	const uint32_t header = header_bytes(width);
	const uint64_t item = item_of(width, id == NOTIFY_NO_SENDERS ? ITEM_INTEGER_32 : ITEM_PORT_NAME);
	struct message *const message =
	    message_new_notification(id == NOTIFY_SEND_ONCE ? header : header + 2 * word, width, receiver);

	if (!message)
		return 0;
	message_set_id(message, id);
	if (id != NOTIFY_SEND_ONCE) {
		__builtin_memcpy(message->bytes + header, &item, word);
		__builtin_memcpy(message->bytes + header + word, &value, sizeof(value));
	}
	return message;
}

/* One that finds no room is lost: whoever is told so often without reading has its share. */
void notify(struct port *once, uint32_t id, uint32_t value)
{
	struct message *message = 0;

	if (once->is_alive && once->object == OBJECT_NONE)
		message = new_notification(once, id, value);
	if (!message) {
		once_right_is_used(once);
		return;
	}
	message->remote = (struct right){once, ITEM_PORT_SEND_ONCE};
	message_put(once, message);
}

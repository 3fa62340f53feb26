/* mach_msg: sends, receives, or both. */
#include "mach/task.h"
#include "mach/trap.h"
#include "user/thread.h"

#define HEADER_SIZE_AT 4 /* msgh_size, at either width */

/* What a call is about: its arguments. */
struct call {
	uint64_t buffer;
	uint32_t option, send_size, receive_size, name, milliseconds, notify;
};

static int is_for_caller(uint32_t problem)
{
	return problem == SEND_TIMED_OUT || problem == SEND_NO_NOTIFY;
}

/* A message that could not be sent comes back, as if received, but not turned round: its rights are the sender's again. */
static void give_back(struct message *message, uint64_t buffer)
{
	struct task *const task = current->mach.task;
	const unsigned to = message->remote.type, answer = message->local.type;
	int is_full;

	const uint32_t remote = right_give(task, message->remote, &is_full);
	const uint32_t local = right_give(task, message->local, &is_full);
	const uint32_t bits = message->bits | BITS_OF(to, answer);
	if (message->bits & BITS_COMPLEX)
		body_give(message, task);
	message_write_header(message, bits, remote, local, message_sequence(message));
	user_write(buffer, message->bytes, message->size);
	message_free(message);
}

static uint32_t send(const struct call *call)
{
	struct task *const task = current->mach.task;
	struct message *message;

	if (call->option & OPTION_SEND_CANCEL) {
		const struct entry *const entry = name_find(&task->names, call->notify);
		if (!entry || !(entry->type & TYPE_RECEIVE))
			return SEND_INVALID_NOTIFY;
	}
	const uint32_t problem = message_read(call->buffer, call->send_size, task, &message);
	if (problem)
		return problem;
	const uint32_t result = message_send(message, call->option, call->milliseconds);
	if (is_for_caller(result))
		give_back(message, call->buffer);
	return result;
}

/* The port to receive from; null with a name of a set, which has no members here. */
static uint32_t find_port(uint32_t name, struct port **port)
{
	const struct entry *const entry = name_find(&current->mach.task->names, name);

	if (!entry || !(entry->type & (TYPE_RECEIVE | TYPE_PORT_SET)))
		return RCV_INVALID_NAME;
	*port = entry->type & TYPE_RECEIVE ? entry->port : 0;
	return MSG_SUCCESS;
}

static uint32_t wait_for_message(struct port *port, const struct call *call)
{
	const int has_end = (call->option & OPTION_RCV_TIMEOUT) != 0;

	for (int is_first = 1; !port || !port->first; is_first = 0) {
		if (has_end && !call->milliseconds)
			return RCV_TIMED_OUT;
		const uint32_t result = is_first
					    ? wait_for(port, 0, has_end, call->milliseconds, RCV_TIMED_OUT)
					    : wait_on(port, RCV_TIMED_OUT);
		struct port *again;
		if (result)
			return result;
		/* Before this thread ran, another may have taken the port away, and its memory may be another port's. */
		if (find_port(call->name, &again) || again != port)
			return RCV_PORT_DIED;
	}
	return MSG_SUCCESS;
}

/* Its size where it is received: headers differ in size. */
static uint32_t size_for(const struct message *message, unsigned width)
{
	if (message->width == width)
		return message->size;
	const uint32_t body = message->size - header_bytes(message->width);
	return (uint32_t)align_up(header_bytes(width) + body, message_alignment(width));
}

static void use_destination(struct message *message)
{
	right_is_used(message->remote);
	message->remote.port = PORT_NULL;
}

/* Without its rights, which are destroyed: a header that says of them no more than the types. */
static uint32_t write_without_rights(struct message *message, uint32_t bits, const struct call *call,
				     uint32_t sequence, uint32_t result)
{
	struct right answer = message->local;

	message->local.port = PORT_NULL;
	use_destination(message);
	right_destroy(answer);
	body_destroy(message);
	message_write_header(message, bits, NAME_NULL, call->name, sequence);
	if (user_write(call->buffer, message->bytes, header_bytes(message->width)))
		result = RCV_INVALID_DATA;
	message_free(message);
	return result;
}

/* A request for the death of the answer's port, told to the port that the caller names. */
static int may_notify(const struct task *task, uint32_t name)
{
	const struct entry *const entry = name_find((struct name_space *)&task->names, name);

	return entry && entry->type & TYPE_RECEIVE;
}

static void request_death(struct task *task, uint32_t answer, uint32_t told)
{
	struct entry *const entry = name_find(&task->names, answer), *const to =
									 name_find(&task->names, told);

	if (entry && to && entry->type & (TYPE_SEND | TYPE_SEND_ONCE) && !entry->request)
		entry->request = right_take(task, to, ITEM_MAKE_SEND_ONCE).port;
}

static uint32_t deliver(struct message *message, const struct call *call, uint32_t sequence)
{
	struct task *const task = current->mach.task;
	const int is_whole = message->width == task->width || message_convert(message, task->width);
	const uint32_t bits = message->bits | BITS_OF(message->local.type, message->remote.type);
	uint32_t result = is_whole ? MSG_SUCCESS : RCV_BODY_ERROR | ERROR_KERNEL;
	int is_full;

	if (message->size > call->receive_size)
		return write_without_rights(message, bits, call, sequence, RCV_TOO_LARGE);
	if (call->option & OPTION_RCV_NOTIFY && !may_notify(task, call->notify))
		return write_without_rights(message, bits, call, sequence, RCV_INVALID_NOTIFY);
	const uint32_t answer = right_give(task, message->local, &is_full);
	message->local.port = PORT_NULL;
	if (is_full)
		return write_without_rights(message, bits, call, sequence, RCV_HEADER_ERROR | ERROR_NAMES);
	if (call->option & OPTION_RCV_NOTIFY)
		request_death(task, answer, call->notify);
	use_destination(message);
	if (message->bits & BITS_COMPLEX && !body_give(message, task))
		result = RCV_BODY_ERROR | ERROR_NAMES;
	message_write_header(message, bits, answer, call->name, sequence);
	if (user_write(call->buffer, message->bytes, message->size))
		result = RCV_INVALID_DATA;
	message_free(message);
	return result;
}

static uint32_t receive(const struct call *call)
{
	struct port *port;
	uint32_t problem = find_port(call->name, &port);

	if (!problem)
		problem = wait_for_message(port, call);
	if (problem)
		return problem;
	const uint32_t size = size_for(port->first, current->mach.task->width);
	if (size > call->receive_size && call->option & OPTION_RCV_LARGE) {
		message_offer(port);
		return user_put_4(call->buffer + HEADER_SIZE_AT, size) ? RCV_INVALID_DATA : RCV_TOO_LARGE;
	}
	const uint32_t sequence = port->sequence++;
	return deliver(message_get(port), call, sequence);
}

uint32_t do_mach_msg(const uint64_t *words)
{
	const struct call call = {
	    .buffer = words[0],
	    .option = (uint32_t)words[1],
	    .send_size = (uint32_t)words[2],
	    .receive_size = (uint32_t)words[3],
	    .name = (uint32_t)words[4],
	    .milliseconds = (uint32_t)words[5],
	    .notify = (uint32_t)words[6],
	};
	uint32_t result = MSG_SUCCESS;

	if (call.option & OPTION_SEND)
		result = send(&call);
	if (!result && call.option & OPTION_RECEIVE)
		result = receive(&call);
	return result;
}

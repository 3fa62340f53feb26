/*
 * Memory of messages: three sizes of buffers, of which each task has a share, and a share of its own for notifications, so that a task that is told
 * much can send all the same. What is given back is overwritten, so that a byte of one task's that another would receive shows.
 */
#include "mach/message.h"
#include "mach/task.h"

#define SMALL_BYTES	   256
#define MIDDLE_BYTES	   4096
#define LARGE_BYTES	   (MOST_MESSAGE_BYTES + WIDENED_BYTES)
/* By so much a message may grow when it goes to a task of another width. */
#define WIDENED_BYTES	   16
/* So many of each a task has, and so many there are. */
#define SMALL_SHARE	   64
#define MIDDLE_SHARE	   8
#define LARGE_SHARE	   1
#define NOTIFICATION	   MESSAGE_SIZES /* the kind behind those that differ by size */
#define NOTIFICATION_BYTES 64
#define NOTIFICATION_SHARE 64

static struct message small[MOST_TASKS * SMALL_SHARE], middle[MOST_TASKS * MIDDLE_SHARE],
    large[MOST_TASKS * LARGE_SHARE], notifications[MOST_TASKS * NOTIFICATION_SHARE];
static uint8_t small_bytes[MOST_TASKS * SMALL_SHARE][SMALL_BYTES] __attribute__((aligned(64)));
static uint8_t middle_bytes[MOST_TASKS * MIDDLE_SHARE][MIDDLE_BYTES] __attribute__((aligned(64)));
static uint8_t large_bytes[MOST_TASKS * LARGE_SHARE][LARGE_BYTES] __attribute__((aligned(64)));
static uint8_t notification_bytes[MOST_TASKS * NOTIFICATION_SHARE][NOTIFICATION_BYTES]
    __attribute__((aligned(64)));

static const struct kind {
	struct message *all;
	uint8_t *bytes;
	uint32_t capacity;
	unsigned share, count;
} kinds[MESSAGE_KINDS] = {
    {small, small_bytes[0], SMALL_BYTES, SMALL_SHARE, MOST_TASKS *SMALL_SHARE},
    {middle, middle_bytes[0], MIDDLE_BYTES, MIDDLE_SHARE, MOST_TASKS *MIDDLE_SHARE},
    {large, large_bytes[0], LARGE_BYTES, LARGE_SHARE, MOST_TASKS *LARGE_SHARE},
    {notifications, notification_bytes[0], NOTIFICATION_BYTES, NOTIFICATION_SHARE,
     MOST_TASKS *NOTIFICATION_SHARE},
};

static struct message *unused[MESSAGE_KINDS];
static unsigned fresh[MESSAGE_KINDS];

/* As the header has it, at either width. */
#define HEADER_BITS 0
#define HEADER_SIZE 4
struct header_layout {
	uint32_t remote, local, sequence, id;
};

static const struct header_layout *layout_of(unsigned width)
{
	static const struct header_layout narrow = {8, 12, 16, 20}, wide = {8, 16, 24, 28};

	return width == 64 ? &wide : &narrow;
}

static uint32_t get(const uint8_t *bytes, uint32_t at)
{
	uint32_t value;

	__builtin_memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static void put(uint8_t *bytes, uint32_t at, uint32_t value)
{
	__builtin_memcpy(bytes + at, &value, sizeof(value));
}

void messages_reset(void)
{
	for (unsigned kind = 0; kind < MESSAGE_KINDS; kind++) {
		/* What one line's programs have sent, no program of another finds. */
		for (unsigned i = 0; i < fresh[kind]; i++)
			__builtin_memset(kinds[kind].all[i].bytes, MESSAGE_POISON, kinds[kind].capacity);
		unused[kind] = 0;
		fresh[kind] = 0;
	}
}

static struct message *take(unsigned kind, struct task *charged)
{
	struct message *message = unused[kind];

	if (charged && charged->messages[kind] == kinds[kind].share)
		return 0;
	if (message) {
		unused[kind] = message->next;
	} else {
		if (fresh[kind] == kinds[kind].count)
			return 0;
		message = &kinds[kind].all[fresh[kind]];
		message->bytes = kinds[kind].bytes + (uint64_t)fresh[kind] * kinds[kind].capacity;
		fresh[kind]++;
	}
	message->capacity = kinds[kind].capacity;
	message->kind = kind;
	message->charged = charged;
	if (charged)
		charged->messages[kind]++;
	return message;
}

/* The smallest that has room: a greater one is taken only if it does not fit. NOTIFICATION when none has. */
static unsigned kind_for(uint32_t size)
{
	unsigned kind = 0;

	while (kind < MESSAGE_SIZES && size > kinds[kind].capacity - WIDENED_BYTES)
		kind++;
	return kind;
}

/* Its bytes are anything. */
static struct message *of_kind(unsigned kind, uint32_t size, unsigned width, struct task *charged)
{
	struct message *const message = take(kind, charged);

	if (!message)
		return 0;
	message->next = 0;
	message->size = size;
	message->width = width;
	message->bits = 0;
	message->remote = message->local = (struct right){PORT_NULL, 0};
	return message;
}

static struct message *reserve(uint32_t size, unsigned width, struct task *charged)
{
	const unsigned kind = kind_for(size);

	return kind < MESSAGE_SIZES ? of_kind(kind, size, width, charged) : 0;
}

static struct message *zeroed(struct message *message)
{
	if (message)
		__builtin_memset(message->bytes, 0, message->size);
	return message;
}

struct message *message_new(uint32_t size, unsigned width, struct task *charged)
{
	return zeroed(reserve(size, width, charged));
}

struct message *message_new_notification(uint32_t size, unsigned width, struct task *charged)
{
	return zeroed(of_kind(NOTIFICATION, size, width, charged));
}

void message_free(struct message *message)
{
	__builtin_memset(message->bytes, MESSAGE_POISON, message->size);
	if (message->charged)
		message->charged->messages[message->kind]--;
	message->next = unused[message->kind];
	unused[message->kind] = message;
}

void message_destroy(struct message *message, int is_destination_used)
{
	const struct right remote = message->remote, local = message->local;

	message->remote = message->local = (struct right){PORT_NULL, 0};
	if (is_destination_used)
		right_is_used(remote);
	else
		right_destroy(remote);
	right_destroy(local);
	body_destroy(message);
	message_free(message);
}

uint32_t message_id(const struct message *message)
{
	return get(message->bytes, layout_of(message->width)->id);
}

uint32_t message_sequence(const struct message *message)
{
	return get(message->bytes, layout_of(message->width)->sequence);
}

void message_set_id(struct message *message, uint32_t id)
{
	put(message->bytes, layout_of(message->width)->id, id);
}

void message_write_header(struct message *message, uint32_t bits, uint32_t remote, uint32_t local,
			  uint32_t sequence)
{
	const struct header_layout *const layout = layout_of(message->width);
	const uint32_t id = message_id(message);

	__builtin_memset(message->bytes, 0, header_bytes(message->width));
	put(message->bytes, HEADER_BITS, bits);
	put(message->bytes, HEADER_SIZE, message->size);
	put(message->bytes, layout->remote, remote);
	put(message->bytes, layout->local, local);
	put(message->bytes, layout->sequence, sequence);
	put(message->bytes, layout->id, id);
}

int message_convert(struct message *message, unsigned width)
{
	const uint32_t from = header_bytes(message->width), to = header_bytes(width);
	const uint32_t body = message->size - from, id = message_id(message);
	const int is_whole = !(message->bits & BITS_COMPLEX);
	const uint32_t end = to + body, size = (uint32_t)align_up(end, message_alignment(width));

	/* Items of rights differ; the items of the rest are for the programs to agree on. */
	if (!is_whole) {
		body_destroy(message);
		message->bits &= ~BITS_COMPLEX;
	}
	__builtin_memmove(message->bytes + to, message->bytes + from, body);
	__builtin_memset(message->bytes + end, 0, size - end);
	/* What is given back is overwritten as far as its size. */
	if (size < message->size)
		__builtin_memset(message->bytes + size, MESSAGE_POISON, message->size - size);
	__builtin_memset(message->bytes, 0, to);
	message->width = width;
	message->size = size;
	message_set_id(message, id);
	return is_whole;
}

/* Whether types of ports, and whether there is a port, go together in a header. */
static int is_header_right(uint32_t bits, uint32_t local)
{
	const uint32_t to = bits & BITS_REMOTE, answer = (bits & BITS_LOCAL) >> 8;
	const int is_answer = answer >= ITEM_MOVE_SEND && answer <= ITEM_MAKE_SEND_ONCE;

	return to >= ITEM_MOVE_SEND && to <= ITEM_MAKE_SEND_ONCE &&
	       (is_answer || (!answer && local == NAME_NULL));
}

static int is_move(unsigned item)
{
	return item == ITEM_MOVE_SEND || item == ITEM_MOVE_SEND_ONCE;
}

/* Takes both rights of a header, or none. */
static uint32_t take_rights(struct message *message, struct task *sender, uint32_t bits, uint32_t remote,
			    uint32_t local)
{
	const unsigned to = bits & BITS_REMOTE, answer = (bits & BITS_LOCAL) >> 8;
	struct entry *const target = name_find(&sender->names, remote), *reply = 0;

	if (!target)
		return SEND_INVALID_DEST;
	if (local != NAME_NULL && local != NAME_DEAD) {
		reply = name_find(&sender->names, local);
		if (!reply || !right_may(reply, answer))
			return SEND_INVALID_REPLY;
	}
	if (target->type & TYPE_DEAD_NAME || !right_may(target, to))
		return SEND_INVALID_DEST;
	/* One name for both: two moves need two rights. */
	if (reply == target && is_move(to) && is_move(answer) &&
	    (to == ITEM_MOVE_SEND_ONCE || target->references < 2))
		return SEND_INVALID_DEST;
	message->local = (struct right){local == NAME_DEAD ? PORT_DEAD : PORT_NULL, 0};
	if (reply && reply == target && is_move(to)) {
		message->local = right_take(sender, reply, answer); /* before the move takes the name along */
		message->remote = right_take(sender, target, to);
		return MSG_SUCCESS;
	}
	message->remote = right_take(sender, target, to);
	if (reply)
		message->local = right_take(sender, reply, answer);
	else if (answer)
		message->local.type = right_received_as(answer);
	return MSG_SUCCESS;
}

static uint32_t read_header(struct message *message, struct task *sender)
{
	const struct header_layout *const layout = layout_of(message->width);
	const uint32_t bits = get(message->bytes, HEADER_BITS);
	const uint32_t remote = get(message->bytes, layout->remote);
	const uint32_t local = get(message->bytes, layout->local);

	if (!is_header_right(bits, local))
		return SEND_INVALID_HEADER;
	message->bits = bits & ~(BITS_REMOTE | BITS_LOCAL | BITS_CIRCULAR);
	return take_rights(message, sender, bits, remote, local);
}

uint32_t message_read(uint64_t from, uint32_t size, struct task *sender, struct message **read)
{
	if (size < header_bytes(sender->width) || size % message_alignment(sender->width))
		return SEND_TOO_SMALL;
	struct message *const message = reserve(size, sender->width, sender);
	if (!message)
		return SEND_NO_BUFFER;
	if (user_read(message->bytes, from, size)) {
		message_free(message);
		return SEND_INVALID_DATA;
	}
	uint32_t problem = read_header(message, sender);
	if (problem) {
		message_free(message);
		return problem;
	}
	if (message->bits & BITS_COMPLEX)
		problem = body_take(message, sender);
	if (problem) {
		message->bits &= ~BITS_COMPLEX; /* what was taken of the body is gone */
		message_destroy(message, 0);
		return problem;
	}
	*read = message;
	return MSG_SUCCESS;
}

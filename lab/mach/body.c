/*
 * The body of a message with rights: items one behind the other, each a description and its data. Data out of line is refused
 * (SEND_INVALID_TYPE): the lab moves no pages between tasks.
 */
#include "mach/message.h"
#include "mach/task.h"

/* A description, read; of either width. */
struct item {
	unsigned name, size; /* bits of an element */
	uint64_t number;
	int is_inline, is_deallocate, has_unused;
	uint32_t description_bytes;
};

#define LONG_NARROW_BYTES 12

static struct item narrow_item(const uint8_t *at, uint32_t left)
{
	uint32_t words[3] = {0};
	struct item item = {.description_bytes = 4};

	__builtin_memcpy(words, at, left < sizeof(words) ? left : sizeof(words));
	item.is_inline = words[0] >> 28 & 1;
	item.is_deallocate = words[0] >> 30 & 1;
	item.has_unused = words[0] >> 31;
	if (words[0] >> 29 & 1) {
		item.description_bytes = LONG_NARROW_BYTES;
		item.name = words[1] & 0xffff;
		item.size = words[1] >> 16;
		item.number = words[2];
	} else {
		item.name = words[0] & 0xff;
		item.size = words[0] >> 8 & 0xff;
		item.number = words[0] >> 16 & 0xfff;
	}
	return item;
}

static struct item wide_item(const uint8_t *at)
{
	uint32_t words[2];

	__builtin_memcpy(words, at, sizeof(words));
	return (struct item){
	    .name = words[0] & 0xff,
	    .size = words[0] >> 8 & 0xffff,
	    .number = words[1],
	    .is_inline = words[0] >> 29 & 1,
	    .is_deallocate = words[0] >> 31,
	    .has_unused = (words[0] >> 24 & 0x1f) != 0,
	    .description_bytes = 8,
	};
}

static int is_of_ports(const struct item *item)
{
	return item->name >= ITEM_MOVE_RECEIVE && item->name <= ITEM_MAKE_SEND_ONCE;
}

/* Where a description says the type: its low byte, or that of a long one's second word. */
static uint8_t *type_at(uint8_t *description, const struct item *item)
{
	return description + (item->description_bytes == LONG_NARROW_BYTES ? 4 : 0);
}

/* The item at an offset, and where the next one begins; MSG_SUCCESS, SEND_TOO_SMALL, SEND_INVALID_TYPE. */
static uint32_t item_at(const struct message *message, uint32_t at, struct item *item, uint32_t *next)
{
	const uint32_t left = message->size - at, alignment = message_alignment(message->width);

	if (left < alignment)
		return SEND_TOO_SMALL;
	*item =
	    message->width == 64 ? wide_item(message->bytes + at) : narrow_item(message->bytes + at, left);
	if (left < item->description_bytes)
		return SEND_TOO_SMALL;
	if (item->has_unused || !item->is_inline || item->is_deallocate ||
	    (is_of_ports(item) && item->size != message->width))
		return SEND_INVALID_TYPE;
	/* 16 bits times 32 bits: no overflow in 64. */
	const uint64_t bytes = align_up((item->number * item->size + 7) / 8, alignment);
	if (bytes > left - item->description_bytes)
		return SEND_TOO_SMALL;
	*next = at + item->description_bytes + (uint32_t)bytes;
	return MSG_SUCCESS;
}

static uint32_t get(const uint8_t *at)
{
	uint32_t value;

	__builtin_memcpy(&value, at, sizeof(value));
	return value;
}

/* A slot is as wide as a word of the program; of a wide one, the upper half is 0. */
static void put(uint8_t *at, uint32_t value, unsigned width)
{
	const uint64_t wide = value;

	__builtin_memcpy(at, &wide, width / 8);
}

/* A port whose receive right is in a message to itself, by whatever way round, could never be reached again. */
static int is_circular(const struct port *moved, const struct port *to)
{
	for (; to; to = to->transit)
		if (to == moved)
			return 1;
	return 0;
}

static uint32_t take_name(struct message *message, struct task *sender, uint8_t *at, unsigned type)
{
	const uint32_t name = get(at);

	if (name == NAME_NULL || name == NAME_DEAD) {
		put(at, name, message->width);
		return MSG_SUCCESS;
	}
	struct entry *const entry = name_find(&sender->names, name);
	if (!entry || !right_may(entry, type))
		return SEND_INVALID_RIGHT;
	const struct right right = right_take(sender, entry, type);
	if (right.type == ITEM_PORT_RECEIVE) {
		if (is_circular(right.port, message->remote.port))
			message->bits |= BITS_CIRCULAR;
		else
			right.port->transit = message->remote.port;
	}
	put(at, port_number(right.port), message->width);
	return MSG_SUCCESS;
}

/* Rights of the items before one, and of so many elements of it. */
static void destroy_until(struct message *message, uint32_t end, uint64_t elements)
{
	struct item item;
	uint32_t next;

	for (uint32_t at = header_bytes(message->width); at <= end && at < message->size; at = next) {
		if (item_at(message, at, &item, &next))
			return;
		uint8_t *const data = message->bytes + at + item.description_bytes;
		const uint64_t count = at == end ? elements : item.number;
		for (uint64_t i = 0; is_of_ports(&item) && i < count; i++) {
			uint8_t *const slot = data + i * (message->width / 8);
			const struct right right = {port_by_number(get(slot)), right_received_as(item.name)};
			put(slot, NAME_NULL, message->width);
			right_destroy(right);
		}
	}
}

uint32_t body_take(struct message *message, struct task *sender)
{
	struct item item;
	uint32_t next;
	int has_rights = 0;

	for (uint32_t at = header_bytes(message->width); at < message->size; at = next) {
		uint32_t problem = item_at(message, at, &item, &next);
		uint64_t taken = 0;
		if (!problem && is_of_ports(&item)) {
			uint8_t *const data = message->bytes + at + item.description_bytes;
			has_rights = 1;
			for (; !problem && taken < item.number; taken += !problem)
				problem = take_name(message, sender, data + taken * (message->width / 8),
						    item.name);
			*type_at(message->bytes + at, &item) = (uint8_t)right_received_as(item.name);
		}
		if (problem) {
			destroy_until(message, at, taken);
			return problem;
		}
	}
	if (!has_rights)
		message->bits &= ~BITS_COMPLEX;
	return MSG_SUCCESS;
}

void body_destroy(struct message *message)
{
	if (message->bits & BITS_COMPLEX)
		destroy_until(message, message->size, 0);
	message->bits &= ~BITS_COMPLEX;
}

int body_give(struct message *message, struct task *receiver)
{
	struct item item;
	uint32_t next;
	int is_whole = 1;

	for (uint32_t at = header_bytes(message->width); at < message->size; at = next) {
		if (item_at(message, at, &item, &next))
			break;
		uint8_t *const data = message->bytes + at + item.description_bytes;
		for (uint64_t i = 0; is_of_ports(&item) && i < item.number; i++) {
			uint8_t *const slot = data + i * (message->width / 8);
			const struct right right = {port_by_number(get(slot)), right_received_as(item.name)};
			int is_full;
			if (right.type == ITEM_PORT_RECEIVE && port_is_real(right.port))
				right.port->transit = 0;
			put(slot, right_give(receiver, right, &is_full), message->width);
			is_whole &= !is_full;
		}
	}
	return is_whole;
}

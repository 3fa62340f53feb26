/* Messages to one's own ports: what goes in, and what comes out. A line for each word that a receiver sees. */
#include "mach.h"

static union {
	struct header header;
	uint8_t bytes[512];
	uint32_t words[128];
} message;

static const uint32_t header_bytes = sizeof(struct header);

static void print_message(const char *what, uint32_t result)
{
	mach_print(what);
	print_number(" result", result);
	print_number(" bits", message.header.bits);
	print_number(" size", message.header.size);
	print_number(" remote", message.header.remote);
	print_number(" local", message.header.local);
	print_number(" sequence", message.header.sequence);
	print_number(" id", message.header.id);
	for (uint32_t at = header_bytes; !result && at < message.header.size; at += 4)
		print_number(" body", message.words[at / 4]);
}

static uint32_t send(uint32_t bits, name remote, name local, uint32_t id, uint32_t size)
{
	message.header = (struct header){.bits = bits, .size = 0x77, .sequence = 0x55, .id = id};
	/* Upper halves of names mean nothing. */
	message.header.remote_word = (uintptr_t)0xeeeeeeee00000000ul | remote;
	message.header.local_word = (uintptr_t)0xeeeeeeee00000000ul | local;
	return mach_msg(&message, SEND_MSG | SEND_TIMEOUT, size, 0, 0, 0, 0);
}

static uint32_t receive(name from)
{
	memset(&message, 0xee, sizeof(message));
	return mach_msg(&message, RCV_MSG | RCV_TIMEOUT, 0, sizeof(message), from, 0, 0);
}

static struct word_item *put(unsigned place, item type, uint32_t value)
{
	struct word_item *const items = (void *)(message.bytes + header_bytes);

	items[place].type = type;
	/* The upper half of a name means nothing, and is not passed on. */
	items[place].word = (type & 0xff) < MOVE_RECEIVE ? value : (uintptr_t)0xeeeeeeee00000000ul | value;
	return &items[place + 1];
}

static uint32_t size_of(unsigned items)
{
	return header_bytes + items * (uint32_t)sizeof(struct word_item);
}

/* As often as asked, through the same port. */
static void loop(name port, unsigned times)
{
	uint32_t wrong = 0;

	for (unsigned i = 0; i < times; i++) {
		put(0, ITEM(INTEGER_32, 32, 1), i * 3);
		wrong += send(BITS(MAKE_SEND, 0), port, 0, i, size_of(1)) != 0;
		wrong += receive(port) != 0 || message.header.id != i || message.header.sequence != i ||
			 ((struct word_item *)(message.bytes + header_bytes))->value != i * 3;
	}
	print_number("wrong of the loop", wrong);
}

static void rights(name port, name other)
{
	put(0, ITEM(MAKE_SEND, WORD_BITS, 1), other);
	put(1, ITEM(INTEGER_32, 32, 1), 0x12345678);
	put(2, ITEM(MAKE_SEND_ONCE, WORD_BITS, 1), other);
	send(COMPLEX | BITS(MAKE_SEND, MAKE_SEND_ONCE), port, port, 7, size_of(3));
	print_message("rights", receive(port));
	const name once = ((struct word_item *)(message.bytes + header_bytes))[2].value;
	print_number("send-once", send(BITS(MOVE_SEND_ONCE, 0), once, 0, 8, header_bytes));
	print_number("and again", send(BITS(MOVE_SEND_ONCE, 0), once, 0, 8, header_bytes));
	print_message("by it", receive(other));
	print_number("deallocate", mach_port_deallocate(self, other));
	/* A receive right goes, and comes back under another name or the same. */
	put(0, ITEM(MOVE_RECEIVE, WORD_BITS, 1), other);
	send(COMPLEX | BITS(MAKE_SEND, 0), port, 0, 9, size_of(1));
	print_message("moved", receive(port));
}

/* Rights under one name are counted. */
static void references(name port)
{
	struct {
		struct reply reply;
		struct word_item more[2];
	} get = {0};

	for (unsigned i = 0; i < 6; i++) {
		put(0, ITEM(MAKE_SEND, WORD_BITS, 1), port);
		send(COMPLEX | BITS(MAKE_SEND, 0), port, 0, 7, size_of(1));
		receive(port);
	}
	get.reply.result = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = port};
	get.more[0] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = 0};
	print_number("get_refs", request(self, 3207, 0, &get, size_of(2), sizeof(get)));
	print_number("references", get.more[0].value);
}

static void death(name port)
{
	const name dying = new_port();

	mach_port_insert_right(self, dying, dying, MAKE_SEND);
	send(BITS(COPY_SEND, MAKE_SEND_ONCE), dying, port, 10, header_bytes);
	struct {
		struct reply reply;
		struct word_item more[3];
	} destroy = {0};
	destroy.reply.result = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = dying};
	destroy.more[0] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = RECEIVE};
	destroy.more[1] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = (uint32_t)-1};
	print_number("mod_refs", request(self, 3208, 0, &destroy, size_of(3), sizeof(destroy)));
	print_message("send-once notification", receive(port));
	print_number("to the dead", send(BITS(COPY_SEND, 0), dying, 0, 11, header_bytes));
	print_number("dead name", mach_port_deallocate(self, dying));
	print_number("no name", mach_port_deallocate(self, dying));
}

/* A port whose receive right is sent to itself is gone. */
static void circle(name port)
{
	put(0, ITEM(MOVE_RECEIVE, WORD_BITS, 1), port);
	print_number("circle", send(COMPLEX | BITS(MAKE_SEND, 0), port, 0, 12, size_of(1)));
	print_number("gone", mach_port_deallocate(self, port));
}

void run(int count, char **words)
{
	(void)count;
	(void)words;
	const name port = new_port(), other = new_port();
	loop(port, 20);
	rights(port, other);
	references(new_port());
	death(port);
	circle(port);
}

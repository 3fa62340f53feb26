/*
 * Random operations on ports and messages: the first word is what they are drawn from, the second how many there are. A digest for each,
 * of what it was answered; mach_model.rs knows what that must be.
 */
#include "mach.h"

#define HEADER	   ((uint32_t)sizeof(struct header))
#define ITEM_BYTES ((uint32_t)sizeof(struct word_item))
#define BUFFER	   160u

static union {
	struct header header;
	uint8_t bytes[BUFFER];
	struct {
		struct header head;
		struct word_item items[4];
	};
} message;

static uint32_t state, digest;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % below;
}

/* FNV-1a. */
static void mix_byte(uint8_t byte)
{
	digest = (digest ^ byte) * 0x01000193;
}

static void mix(uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		mix_byte((uint8_t)(word >> 8 * i));
}

static void mix_buffer(void)
{
	for (unsigned i = 0; i < BUFFER; i++)
		mix_byte(message.bytes[i]);
}

/* None of those that the program needs. */
static name pick(void)
{
	const uint32_t drawn = draw(28);

	return drawn == 0 ? 0 : drawn == 1 ? NAME_DEAD : drawn == 2 ? 9999 : drawn + 2;
}

static void put(unsigned place, item type, uint32_t value)
{
	message.items[place].type = type;
	message.items[place].word = value;
}

static uint32_t ask(uint32_t id, uint32_t bits, unsigned items)
{
	return request(self, id, bits, &message, HEADER + items * ITEM_BYTES, BUFFER);
}

static void allocate(void)
{
	static const uint32_t rights[6] = {RECEIVE, RECEIVE, RECEIVE, DEAD_NAME, SET, 2};
	name made = 0;

	mix(mach_port_allocate(self, rights[draw(6)], &made));
	mix(made);
}

static void ask_about(uint32_t id)
{
	put(0, ITEM(PORT_NAME, 32, 1), pick());
	const uint32_t result = ask(id, 0, 1);
	mix(result);
	for (unsigned i = 0; !result && id != 3205 && i < (id == 3217 ? 9 : 1); i++)
		mix((&message.items[1].value)[i]);
}

static void change_references(void)
{
	put(0, ITEM(PORT_NAME, 32, 1), pick());
	put(1, ITEM(INTEGER_32, 32, 1), draw(6));
	put(2, ITEM(INTEGER_32, 32, 1), draw(5) - 2);
	mix(ask(3208, 0, 3));
}

static void insert(void)
{
	const name as = pick(), right = pick();

	mix(mach_port_insert_right(self, as, right, 15 + draw(8)));
}

static void request_notification(void)
{
	put(0, ITEM(PORT_NAME, 32, 1), pick());
	put(1, ITEM(INTEGER_32, 32, 1), draw(2) ? 70 : 72);
	put(2, ITEM(INTEGER_32, 32, 1), draw(3));
	const uint32_t type = draw(2) ? MAKE_SEND_ONCE : MOVE_SEND_ONCE;
	put(3, ITEM(type, WORD_BITS, 1), pick());
	const uint32_t result = ask(3214, COMPLEX, 4);
	mix(result);
	if (!result)
		mix(message.items[1].value);
}

static void send(uint32_t id)
{
	/* Mostly what can work. */
	static const uint8_t ways_there[12] = {20, 20, 20, 20, 20, 20, 19, 19, 17, 18, 21, 16},
			     ways_back[8] = {21, 21, 20, 20, 19, 17, 18, 22};
	uint32_t bits = ways_there[draw(12)], local = 0;

	const name remote = pick();
	if (draw(2)) {
		bits |= (uint32_t)ways_back[draw(8)] << 8;
		local = pick();
	} else if (!draw(8)) {
		local = pick();
	}
	const unsigned items = draw(4);
	bits |= draw(2) ? COMPLEX : 0;
	for (unsigned i = 0; i < items; i++) {
		if (draw(3) == 0) {
			put(i, ITEM(INTEGER_32, 32, 1), draw(0xffffffff));
		} else {
			const uint32_t type = 16 + draw(6);
			put(i, ITEM(type, WORD_BITS, 1), pick());
		}
	}
	message.header = (struct header){.bits = bits, .size = 0x77, .sequence = 0x55, .id = id};
	message.header.remote = remote;
	message.header.local = local;
	const uint32_t result =
	    mach_msg(&message, SEND_MSG | SEND_TIMEOUT, HEADER + items * ITEM_BYTES, 0, 0, 0, 0);
	mix(result);
	if (result == 0x10000004)
		mix_buffer();
}

static void receive(void)
{
	const name from = pick();
	const uint32_t size = draw(4) ? BUFFER : HEADER + draw(2) * ITEM_BYTES - 8;
	const uint32_t option = draw(4) ? 0 : RCV_LARGE;

	mix(mach_msg(&message, RCV_MSG | RCV_TIMEOUT | option, 0, size, from, 0, 0));
	mix_buffer();
}

static void step(uint32_t number)
{
	const uint32_t operation = draw(24);

	memset(&message, 0xee, sizeof(message));
	if (operation < 2)
		allocate();
	else if (operation < 4)
		mix(mach_port_deallocate(self, pick()));
	else if (operation < 5)
		ask_about(3205);
	else if (operation < 6)
		change_references();
	else if (operation < 8)
		insert();
	else if (operation < 9)
		ask_about(3201);
	else if (operation < 10)
		ask_about(3217);
	else if (operation < 11)
		request_notification();
	else if (operation < 17)
		send(number);
	else
		receive();
}

static uint32_t number_of(const char *word)
{
	uint32_t number = 0;

	while (*word)
		number = number * 10 + (uint32_t)(*word++ - '0');
	return number;
}

void run(int count, char **words)
{
	(void)count;
	state = number_of(words[0]);
	const uint32_t steps = number_of(words[1]);
	ask(2999, 0, 0); /* the port for answers is made */
	for (uint32_t i = 0; i < steps; i++) {
		digest = 0x811c9dc5;
		step(i);
		print_number("", digest);
	}
}

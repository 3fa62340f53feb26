/*
 * Sends messages that somebody outside changes while the kernel reads them (mach_changes.rs), who stops the program at two moments.
 * Each round begins with the same rights under the same names, and notes all that came of its message.
 */
#include "mach.h"

#define FIRST_NAME 5u /* behind those of the host, the devices, the task and the answers to requests */
#define LAST_NAME  16u
#define NOTES	   1000

enum scene {
	END,
	HEADER,	 /* no more than that */
	RIGHT,	 /* a right behind the header */
	FULL,	 /* the same where there is no room, so that it comes back */
	REQUEST, /* to the kernel's server */
	BOTH,	 /* sent and received by one trap */
	TWICE,	 /* looked at by the program, and sent two times */
};

/* Written and read from outside; the scene is the next round's. Nothing reads the message but the trap. */
uint64_t scene = HEADER;
struct {
	struct header header;
	struct word_item item;
} message __attribute__((aligned(PAGE)));
name names[5]; /* two ports with two send rights each; of a port that is dead; of nothing; of the task */
uint32_t notes[NOTES], note_count;

/* The program is stopped behind a read of these. */
volatile uint32_t is_ready, is_sent;

static enum scene now;
static uint32_t wrong; /* of what goes on besides */

static void note(uint32_t word)
{
	if (note_count < NOTES)
		notes[note_count++] = word;
}

static void note_all(const void *words, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes / 4; at++)
		note(((const uint32_t *)words)[at]);
}

/* A request about a name, perhaps with a number: its answer's code, and what stands behind that. */
static uint32_t ask(uint32_t id, name about, uint32_t number, uint32_t items, uint32_t *answer)
{
	struct {
		struct reply reply;
		struct word_item more[24];
	} ask = {.reply.result = {.type = ITEM(PORT_NAME, 32, 1), .value = about}};
	const uint32_t bytes = sizeof(struct header) + items * sizeof(struct word_item);

	ask.more[0] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = number};
	const uint32_t result = request(self, id, 0, &ask, bytes, sizeof(ask));
	if (answer)
		*answer = ask.more[0].value;
	else
		note_all(ask.more, ask.reply.header.size - sizeof(ask.reply));
	return result;
}

/* Names that are freed are given again, the last first: so the lowest is next. */
static void order_names(void)
{
	name all[LAST_NAME - FIRST_NAME + 1];
	unsigned count = 0;

	while (count < LAST_NAME - FIRST_NAME + 1)
		mach_port_allocate(self, DEAD_NAME, &all[count++]);
	for (name last = LAST_NAME; last >= FIRST_NAME; last--)
		mach_port_deallocate(self, last);
	while (count--)
		if (all[count] < FIRST_NAME || all[count] > LAST_NAME)
			wrong++;
}

static void prepare(void)
{
	order_names();
	for (unsigned i = 0; i < 2; i++) {
		names[i] = new_port();
		mach_port_insert_right(self, names[i], names[i], MAKE_SEND);
		mach_port_insert_right(self, names[i], names[i], MAKE_SEND);
	}
	mach_port_allocate(self, DEAD_NAME, &names[2]);
	names[3] = LAST_NAME;
	names[4] = self;
	for (unsigned i = 0; now == FULL && i < 5; i++) {
		struct header header = {.bits = BITS(MAKE_SEND, 0), .remote = names[0]};
		wrong += mach_msg(&header, SEND_MSG | SEND_TIMEOUT, sizeof(header), 0, 0, 0, 0) != 0;
	}
}

static void write_message(void)
{
	const int is_request = now == REQUEST, has_right = now == RIGHT || now == FULL;

	message.header = (struct header){.size = 0x77, .sequence = 0x55, .id = is_request ? 3206 : 0x111};
	message.header.bits =
	    has_right ? COMPLEX | BITS(COPY_SEND, MAKE_SEND) : BITS(COPY_SEND, MAKE_SEND_ONCE);
	message.header.remote_word = is_request ? self : names[0];
	message.header.local_word = names[1];
	message.item.type = has_right ? ITEM(MOVE_SEND, WORD_BITS, 1) : ITEM(PORT_NAME, 32, 1);
	message.item.word = names[1];
}

static void send(void)
{
	const int is_bare = now == HEADER || now == BOTH, is_both = now == BOTH;
	const uint32_t bytes = is_bare ? sizeof(struct header) : sizeof(message);
	const uint32_t option = SEND_MSG | SEND_TIMEOUT | (is_both ? RCV_MSG | RCV_TIMEOUT : 0);
	uint32_t seen = 0;

	for (uint32_t at = 0; now == TWICE && at < bytes / 4; at++)
		seen += ((const volatile uint32_t *)&message)[at];
	note(seen);
	for (unsigned times = 0; times < (now == TWICE ? 2 : 1); times++)
		note(mach_msg(&message, option, bytes, is_both ? bytes : 0, is_both ? names[0] : 0, 0, 0));
	(void)is_sent;
}

/* Each queue, to its end. */
static void receive(void)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t result, words[64];
		do {
			memset(words, 0xee, sizeof(words));
			result = mach_msg(words, RCV_MSG | RCV_TIMEOUT, 0, sizeof(words), names[i], 0, 0);
			note(result);
			if (!result)
				note_all(words, ((struct header *)words)->size);
		} while (!result);
	}
}

/* Between ports of its own. */
static void normal_round_trip(void)
{
	const name from = new_port(), to = new_port();
	struct {
		struct header header;
		struct word_item item, room;
	} trip = {.item = {.type = ITEM(INTEGER_32, 32, 1), .value = 0x12345678}};
	const uint32_t bytes = sizeof(trip.header) + sizeof(trip.item);

	trip.header = (struct header){.bits = BITS(MAKE_SEND, MAKE_SEND_ONCE), .id = 77};
	trip.header.remote = to;
	trip.header.local = from;
	wrong += mach_msg(&trip, SEND_MSG | RCV_MSG | RCV_TIMEOUT, bytes, sizeof(trip), to, 0, 0) != 0;
	wrong += trip.header.id != 77 || trip.header.local != to || trip.item.value != 0x12345678;
	trip.header.bits = BITS(MOVE_SEND_ONCE, 0);
	trip.header.local = 0;
	trip.header.id = 78;
	trip.item.value++;
	wrong += mach_msg(&trip, SEND_MSG | RCV_MSG | RCV_TIMEOUT, bytes, sizeof(trip), from, 0, 0) != 0;
	wrong += trip.header.id != 78 || trip.header.local != from || trip.item.value != 0x12345679;
}

/* Every name that there is: what it is, how often, and what its port is like; and all of it is given back. */
static void tell_names(void)
{
	for (name of = LAST_NAME; of >= FIRST_NAME; of--) {
		uint32_t type, references;
		if (ask(3201, of, 0, 1, &type))
			continue;
		note(of);
		note(type);
		for (uint32_t right = 0; right < 5; right++)
			if (type >> (right + 16) & 1) {
				note(ask(3207, of, right, 2, &references));
				note(references);
			}
		if (type >> (RECEIVE + 16) & 1)
			note(ask(3217, of, 0, 1, 0));
		note(ask(3205, of, 0, 1, &references));
	}
}

/* Ports until there are no more, and messages to them until there is no memory for more. */
static void tell_room(void)
{
	static name all[512];
	unsigned ports = 0, messages = 0;
	uint32_t ignored, result;

	while (ports < 512 && !(result = mach_port_allocate(self, RECEIVE, &all[ports])))
		ports++;
	note(ports);
	note(result);
	struct header header;
	do {
		header = (struct header){.bits = BITS(MAKE_SEND, 0), .remote = all[messages / 5]};
		result = mach_msg(&header, SEND_MSG | SEND_TIMEOUT, sizeof(header), 0, 0, 0, 0);
		messages += !result;
	} while (!result);
	note(messages);
	note(result);
	/* A request needs room, too. */
	for (unsigned i = 0; i < 5; i++)
		mach_msg(&header, RCV_MSG | RCV_TIMEOUT, 0, sizeof(header), all[i], 0, 0);
	while (ports--)
		ask(3205, all[ports], 0, 1, &ignored);
}

void run(int count, char **words)
{
	uint32_t ignored;

	(void)count;
	(void)words;
	ask(3201, self, 0, 1, &ignored); /* the port for answers is made */
	tell_room();
	while (now = (enum scene)scene, now != END) {
		prepare();
		write_message();
		/* What came of the last round is in the notes. */
		(void)is_ready;
		note_count = 1;
		send();
		receive();
		normal_round_trip();
		tell_names();
		notes[0] = wrong;
	}
	note_count = 0;
	tell_room();
	(void)is_ready;
}

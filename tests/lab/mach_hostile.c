/* Whatever a program asks for, it is answered. */
#include "mach.h"

static union {
	struct header header;
	uint8_t bytes[65536];
} message;

#define HEADER ((uint32_t)sizeof(struct header))

static uint32_t send(name to, uint32_t bits, uint32_t size)
{
	message.header = (struct header){.bits = bits};
	message.header.remote = to;
	return mach_msg(&message, SEND_MSG | SEND_TIMEOUT, size, 0, 0, 0, 0);
}

static uint32_t receive(name from)
{
	return mach_msg(&message, RCV_MSG | RCV_TIMEOUT, 0, sizeof(message), from, 0, 0);
}

/* Ports until there are no more, twice: they come back. */
static void ports(void)
{
	static name all[1024];

	for (unsigned times = 0; times < 2; times++) {
		unsigned count = 0;
		uint32_t result;
		while (count < 1024 && !(result = mach_port_allocate(self, RECEIVE, &all[count])))
			count++;
		print_number("ports", count);
		print_number("then", result);
		struct {
			struct reply reply;
			struct word_item more[2];
		} destroy;
		while (count--) {
			destroy.reply.result =
			    (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = all[count]};
			request(self, 3205, 0, &destroy, sizeof(destroy.reply) - 0, sizeof(destroy));
		}
	}
}

/* Names until there are no more; then a reply that needs one. */
static void names(void)
{
	static name all[1024];
	const name port = new_port();
	unsigned count = 0;
	uint32_t result;

	send(port, BITS(MAKE_SEND, MAKE_SEND_ONCE), HEADER);
	message.header.bits = BITS(MAKE_SEND, MAKE_SEND_ONCE);
	message.header.remote = message.header.local = port;
	mach_msg(&message, SEND_MSG, HEADER, 0, 0, 0, 0);
	while (count < 1024 && !(result = mach_port_allocate(self, DEAD_NAME, &all[count])))
		count++;
	print_number("names run out", count > 400 && count < 1024);
	print_number("then", result);
	print_number("no reply port", mach_reply_port());
	receive(port);
	print_number("no name for the answer", receive(port));
	for (unsigned i = 0; i < 64 && !(result = mach_port_allocate_name(self, DEAD_NAME, 0x80000000u + i));
	     i++)
		;
	print_number("chosen names run out", result);
	for (uint32_t i = 0; i < 64; i++)
		mach_port_deallocate(self, 0x80000000u + i);
	while (count--)
		mach_port_deallocate(self, all[count]);
	while (!receive(port))
		;
}

/* Messages to oneself until there is no memory for more; then they are read, and there is again. */
static void messages(void)
{
	static name all[40];
	unsigned count = 0;
	uint32_t result = 0;

	for (unsigned i = 0; i < 40; i++)
		all[i] = new_port();
	while (!(result = send(all[count / 5], BITS(MAKE_SEND, 0), HEADER)))
		count++;
	print_number("messages", count);
	print_number("then", result);
	print_number("nor an answer", request(self, 2999, 0, &message, HEADER, sizeof(message)));
	while (count--)
		result |= receive(all[count / 5]);
	print_number("all are read", send(all[0], BITS(MAKE_SEND, 0), HEADER));
	receive(all[0]);
	print_number("a large one", send(all[0], BITS(MAKE_SEND, 0), 32768));
	print_number("another", send(all[0], BITS(MAKE_SEND, 0), 32768));
	print_number("one of all bytes", send(all[0], BITS(MAKE_SEND, 0), 65536));
	print_number("it is read", receive(all[0]));
	print_number("of its size", message.header.size);
}

/* Receive rights in messages to each other, as long a chain as there are ports; and all end at once. */
static void chain(void)
{
	const name start = new_port();
	name last = start;
	unsigned links = 0;
	struct {
		struct header header;
		struct word_item item;
	} link;

	for (; links < 50; links++) {
		const name next = new_port();
		link.header = (struct header){.bits = COMPLEX | BITS(MAKE_SEND, 0)};
		link.header.remote = next;
		link.item = (struct word_item){.type = ITEM(MOVE_RECEIVE, WORD_BITS, 1), .value = last};
		if (mach_msg(&link, SEND_MSG | SEND_TIMEOUT, sizeof(link), 0, 0, 0, 0))
			break;
		last = next;
	}
	print_number("links", links);
	struct {
		struct reply reply;
		struct word_item more[2];
	} destroy = {.reply.result = {.type = ITEM(PORT_NAME, 32, 1), .value = last}};
	print_number("the last ends",
		     request(self, 3205, 0, &destroy, sizeof(destroy.reply), sizeof(destroy)));
}

/* Numbers that are none, everywhere; what is said does not matter, but that something is. */
static void numbers(void)
{
	static const uintptr_t odd[] = {0,
					1,
					2,
					3,
					4,
					5,
					7,
					0xff,
					0x7fffffff,
					0x80000000,
					0xfffffff8,
					(uintptr_t)-1,
					(uintptr_t)-4096,
					(uintptr_t)1 << (8 * sizeof(uintptr_t) - 1)};
	const unsigned count = sizeof(odd) / sizeof(odd[0]);
	uint32_t draw = 1;

	for (unsigned i = 0; i < 3000; i++) {
		uintptr_t words[11];
		for (unsigned word = 0; word < 11; word++) {
			draw = draw * 1664525 + 1013904223;
			words[word] = odd[(draw >> 16) % count];
		}
		/* Waits with an end only. */
		mach_msg((void *)words[0], (uint32_t)words[1] | SEND_TIMEOUT | RCV_TIMEOUT,
			 (uint32_t)words[2], (uint32_t)words[3], (name)words[4], 0, (name)words[5]);
		mach_port_allocate_name(self, (uint32_t)words[0], (name)words[1]);
		mach_port_insert_right(self, (name)words[2], (name)words[3], (uint32_t)words[4]);
		uintptr_t at = words[5];
		if (!vm_map(self, &at, words[6], words[7], (uint32_t)words[8], 0, words[10], 0,
			    (uint32_t)words[9], 7, 1))
			vm_deallocate(self, at, words[6] < 4096 ? words[6] : 4096);
		mach_print((const char *)(words[8] > 0x1000 ? words[8] : 1));
		evc_wait((uint32_t)words[9]);
		swtch_pri((int)words[10]);
	}
	mach_print("numbers\n");
}

void run(int count, char **words)
{
	(void)count;
	(void)words;
	ports();
	names();
	messages();
	chain();
	numbers();
}

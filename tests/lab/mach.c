/* What programs for GNU Mach in these tests share. The words: host port, device port, which entry the traps take, and the program's. */
#include "mach.h"

name self;

void *memset(void *to, int value, size_t count)
{
	volatile uint8_t *bytes = to;

	while (count--)
		*bytes++ = (uint8_t)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t count)
{
	volatile uint8_t *bytes = to;
	const uint8_t *source = from;

	while (count--)
		*bytes++ = *source++;
	return to;
}

void print_number(const char *what, uint64_t number)
{
	char text[] = " 0123456789abcdef\n";

	for (int i = 16; i > 0; i--, number >>= 4)
		text[i] = "0123456789abcdef"[number & 15];
	int start = 1;
	while (start < 16 && text[start] == '0')
		start++;
	text[start - 1] = ' ';
	mach_print(what);
	mach_print(text + start - 1);
}

name new_port(void)
{
	name made = 0;

	mach_port_allocate(self, RECEIVE, &made);
	return made;
}

uint32_t request(name to, uint32_t id, uint32_t bits, void *message, uint32_t send_size,
		 uint32_t receive_size)
{
	static name answers;
	struct reply *const reply = message;
	struct header *const header = message;

	if (!answers)
		answers = mach_reply_port();
	header->bits = bits | BITS(COPY_SEND, MAKE_SEND_ONCE);
	header->remote = to;
	header->local = answers;
	header->id = id;
	const uint32_t result = mach_msg(message, SEND_MSG | RCV_MSG, send_size, receive_size, answers, 0, 0);
	if (result) {
		/* That the right to answer has ended is told there. */
		struct header told;
		while (!mach_msg(&told, RCV_MSG | RCV_TIMEOUT, 0, sizeof(told), answers, 0, 0))
			;
		return result;
	}
	return header->id == id + 100 ? reply->result.value : 0xbad;
}

uint32_t device_open(name master, const char *called, name *device)
{
	struct {
		struct header header;
		struct word_item mode;
#ifdef __x86_64__
		uint64_t type;
#else
		uint32_t type[3];
#endif
		char called[128];
	} open = {.mode = {.type = ITEM(INTEGER_32, 32, 1)}};
	_Static_assert(sizeof(open) == CHOOSE(172, 184), "device_open");

#ifdef __x86_64__
	open.type = 0x16004000cul;
#else
	open.type[0] = 0x30000000;
	open.type[1] = 0x0400000c;
	open.type[2] = 1;
#endif
	for (unsigned i = 0; called[i]; i++)
		open.called[i] = called[i];
	const uint32_t result = request(master, 2800, 0, &open, sizeof(open), sizeof(open));
	*device = ((struct word_item *)(&open.header + 1))[1].value;
	return result;
}

static uint32_t number_of(const char *word)
{
	uint32_t number = 0;

	while (*word)
		number = number * 10 + (uint32_t)(*word++ - '0');
	return number;
}

void begin(long *stack);
void begin(long *stack)
{
	char **const words = (char **)(stack + 1);

	if (stack[0] > 3)
		way = ways[number_of(words[3])];
	self = mach_task_self();
	run((int)stack[0] - 4, words + 4);
	task_terminate(self);
}

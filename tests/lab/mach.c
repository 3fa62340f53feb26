/* What programs for GNU Mach in these tests share. The words: host port, device port, which entry the traps take, and the program's. */
#include "mach.h"
#include "../../mach/stub/image.h"

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

static name answers;

uint32_t request(name to, uint32_t id, uint32_t bits, void *message, uint32_t send_size,
		 uint32_t receive_size)
{
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

uint32_t device_pager(name device, name *pager)
{
	struct {
		struct reply reply;
		struct word_item more[5];
	} map = {.reply.result = {.type = ITEM(INTEGER_32, 32, 1), .value = READ_AND_EXECUTE}};

	map.more[0].type = map.more[1].type = WORD_ITEM;
	map.more[1].word = PAGE;
	map.more[2].type = ITEM(INTEGER_32, 32, 1);
	const uint32_t result =
	    request(device, 2809, 0, &map, sizeof(struct header) + 4 * sizeof(struct word_item), sizeof(map));
	*pager = map.more[0].value;
	return result;
}

/* Without an answer, for which there would have to be a port. */
static void destroy(name port)
{
	struct reply message = {.header = {.bits = BITS(COPY_SEND, 0), .id = 3205}};

	message.header.remote = self;
	message.result = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = port};
	mach_msg(&message, SEND_MSG, sizeof(message), 0, 0, 0, 0);
}

/* entry_call of the device `entry`. No name is left of it, so that a program has those that it would have without. */
static void (*map_entry(void))(void)
{
	uintptr_t at = 0;
	name device = 0, pager = 0;
	struct header close;

	device_open(2, "entry", &device);
	device_pager(device, &pager);
	vm_map(self, &at, PAGE, 0, 1, pager, 0, 0, READ_AND_EXECUTE, READ_AND_EXECUTE, 1);
	mach_port_deallocate(self, pager);
	close = (struct header){.bits = BITS(COPY_SEND, 0), .id = 2801};
	close.remote = device;
	mach_msg(&close, SEND_MSG, sizeof(close), 0, 0, 0, 0);
	mach_port_deallocate(self, device);
	destroy(answers);
	answers = 0;
	return (void (*)(void))image_find((const void *)at, PAGE, "entry_call");
}

static uint32_t number_of(const char *word)
{
	uint32_t number = 0;

	while (*word)
		number = number * 10 + (uint32_t)(*word++ - '0');
	return number;
}

/* By which entry the traps are made: one of a number, the page of the device, or that which another task has mapped here. */
static void choose_way(const char *word)
{
	if (word[0] == 'e')
		way = map_entry();
	else if (word[0] == 'b')
		way = (void (*)(void))image_find((const void *)ENTRY_PAGE, PAGE, "entry_call");
	else
		way = ways[number_of(word)];
}

void begin(long *stack);
void begin(long *stack)
{
	char **const words = (char **)(stack + 1);

	/* Without a way, there is only one to find. */
	if (way)
		self = mach_task_self();
	if (stack[0] > 3)
		choose_way(words[3]);
	if (!self)
		self = mach_task_self();
	run((int)stack[0] - 4, words + 4);
	task_terminate(self);
}

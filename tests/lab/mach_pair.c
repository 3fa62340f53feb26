/*
 * Two tasks or more. The first, which begins, gives each other one a send right under a name that both know, and answers what they send;
 * the others ask as often as their word says, and check the answers.
 */
#include "mach.h"

#define AGREED	   100u /* the name */
#define FIRST_TASK 3u

/* Of the same bytes behind the header at either width. */
static struct {
	struct header header;
	uint32_t value, unused;
} message;

static uint32_t send(uint32_t bits, name to, name answer, uint32_t id, uint32_t value, uint32_t option,
		     name from)
{
	message.header = (struct header){.bits = bits, .id = id};
	message.header.remote = to;
	message.header.local = answer;
	message.value = value;
	return mach_msg(&message, SEND_MSG | option, sizeof(message), sizeof(message), from, 0, 0);
}

/* A port to which the others may send, under the name that all have agreed on. */
static name port_of_others(unsigned others, uint32_t *wrong)
{
	const name port = new_port();

	for (unsigned i = 0; i < others; i++)
		*wrong += mach_port_insert_right(FIRST_TASK + i, AGREED, port, MAKE_SEND) != 0;
	return port;
}

static void answer(unsigned others, unsigned times)
{
	uint32_t wrong = 0, sum = 0;
	const name port = port_of_others(others, &wrong);

	for (unsigned i = 0; i < others * times; i++) {
		wrong += mach_msg(&message, RCV_MSG, 0, sizeof(message), port, 0, 0) != 0;
		sum += message.value;
		wrong += send(BITS(MOVE_SEND_ONCE, 0), message.header.remote, 0, message.header.id,
			      message.value * 2, 0, 0) != 0;
	}
	print_number("wrong", wrong);
	print_number("sum", sum);
}

static void ask(unsigned times)
{
	const name answers = mach_reply_port();
	uint32_t wrong = 0;

	for (unsigned i = 0; i < times; i++) {
		wrong += send(BITS(COPY_SEND, MAKE_SEND_ONCE), AGREED, answers, i, i, RCV_MSG, answers) != 0;
		wrong += message.header.id != i || message.value != 2 * i || message.header.sequence != i ||
			 message.header.local != answers;
	}
	print_number("wrong of one who asks", wrong);
}

/* Sends more than the queue holds, and waits each time that it is full. */
static void flood(unsigned times)
{
	uint32_t wrong = 0;

	for (unsigned i = 0; i < times; i++)
		wrong += send(BITS(COPY_SEND, 0), AGREED, 0, i, i, 0, 0) != 0;
	print_number("wrong of one who sends", wrong);
}

static void drain(unsigned others, unsigned times)
{
	uint32_t wrong = 0, sum = 0;
	const name port = port_of_others(others, &wrong);

	for (unsigned i = 0; i < others * times; i++) {
		wrong += mach_msg(&message, RCV_MSG, 0, sizeof(message), port, 0, 0) != 0;
		wrong += message.header.sequence != i;
		sum += message.value;
	}
	print_number("wrong", wrong);
	print_number("sum", sum);
}

/* Waits for what nobody sends. */
static void wait_for_ever(void)
{
	mach_msg(&message, RCV_MSG, 0, sizeof(message), mach_reply_port(), 0, 0);
}

/* The port of a task whose end the other sees: it waits for an answer, and is told that there is none. */
static void leave(void)
{
	const name port = new_port();

	mach_port_insert_right(FIRST_TASK, AGREED, port, MAKE_SEND);
	mach_msg(&message, RCV_MSG, 0, sizeof(message), port, 0, 0);
	/* The answer's right ends with this task. */
}

static void be_left(void)
{
	const name answers = mach_reply_port();

	print_number("result",
		     send(BITS(COPY_SEND, MAKE_SEND_ONCE), AGREED, answers, 1, 1, RCV_MSG, answers));
	print_number("id", message.header.id);
	print_number("then", send(BITS(COPY_SEND, 0), AGREED, 0, 1, 1, 0, 0));
}

/* A message of this task's bytes; then a shorter one in the same memory of the kernel's; what the receiver sees behind it. */
static uint8_t secret[200];

static void tell(void)
{
	memset(secret, 0xc5, sizeof(secret));
	struct header *const header = (void *)secret;
	*header = (struct header){.bits = BITS(COPY_SEND, 0)};
	header->remote = AGREED;
	for (unsigned i = 0; i < 4; i++)
		mach_msg(secret, SEND_MSG, sizeof(secret), 0, 0, 0, 0);
}

/* Four in a row are no accident. */
static uint32_t seen(const uint8_t *bytes, uint32_t count, uint8_t byte)
{
	uint32_t times = 0, in_a_row = 0;

	for (uint32_t i = 0; i < count; i++) {
		in_a_row = bytes[i] == byte ? in_a_row + 1 : 0;
		times += in_a_row >= 4;
	}
	return times;
}

static void listen(void)
{
	static uint8_t got[512];
	const name port = new_port();

	mach_port_insert_right(FIRST_TASK, AGREED, port, MAKE_SEND);
	for (unsigned i = 0; i < 4; i++)
		mach_msg(got, RCV_MSG, 0, sizeof(got), port, 0, 0);
	print_number("told", seen(got, sizeof(got), 0xc5));
	/* Replies, notifications and messages of the kernel's, of every size: nothing of what was there before. */
	uint32_t foreign = 0, poison = 0;
	for (unsigned i = 0; i < 40; i++) {
		memset(got, 0, sizeof(got));
		request(i % 2 ? mach_host_self() : self, i % 2 ? 2634 : 2999, 0, got, sizeof(struct header),
			sizeof(got));
		foreign += seen(got, sizeof(got), 0xc5);
		poison += seen(got, sizeof(got), 0xdb);
	}
	for (unsigned i = 0; i < 10; i++) {
		send(BITS(MAKE_SEND, MAKE_SEND_ONCE), port, port, 1, 1, SEND_TIMEOUT, 0);
		memset(got, 0, sizeof(got));
		mach_msg(got, RCV_MSG | RCV_TIMEOUT, 0, i % 2 ? 8 : sizeof(got), port, 0, 0);
		foreign += seen(got, sizeof(got), 0xc5);
		poison += seen(got, sizeof(got), 0xdb);
		if (i % 2 == 0)
			mach_port_deallocate(self, ((struct header *)got)->remote);
		while (!mach_msg(got, RCV_MSG | RCV_TIMEOUT, 0, sizeof(got), port, 0, 0)) {
			foreign += seen(got, sizeof(got), 0xc5);
			poison += seen(got, sizeof(got), 0xdb);
		}
	}
	print_number("foreign", foreign);
	print_number("poison", poison);
}

/* A message with a right to this task's port, whose name here is the value. */
static union {
	struct {
		struct header header;
		struct word_item port, value;
	};
	uint8_t bytes[256];
} right;

/* Waits for a message that comes, but is gone with the port before this task runs. */
static void be_robbed(void)
{
	const name port = new_port();

	right.header = (struct header){.bits = COMPLEX | BITS(COPY_SEND, 0)};
	right.header.remote = AGREED;
	right.port = (struct word_item){.type = ITEM(MAKE_SEND, WORD_BITS, 1), .value = port};
	right.value = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = port};
	const uint32_t size = sizeof(struct header) + 2 * sizeof(struct word_item);
	print_number("robbed", mach_msg(&right, SEND_MSG | RCV_MSG, size, sizeof(right), port, 0, 0));
}

/* Wakes the other, takes its port away, and makes ports where that was. */
static void rob(void)
{
	const name port = new_port();
	struct {
		struct reply reply;
		struct word_item more[2];
	} destroy = {0};

	mach_port_insert_right(FIRST_TASK, AGREED, port, MAKE_SEND);
	mach_msg(&right, RCV_MSG, 0, sizeof(right), port, 0, 0);
	swtch(); /* now it waits */
	print_number("sent", send(BITS(COPY_SEND, 0), right.port.value, 0, 1, 1, 0, 0));
	destroy.reply.result = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = right.value.value};
	print_number("destroyed",
		     request(FIRST_TASK, 3205, 0, &destroy, sizeof(destroy.reply), sizeof(destroy)));
	mach_port_deallocate(self, right.port.value);
	for (unsigned i = 0; i < 8; i++)
		send(BITS(MAKE_SEND, 0), new_port(), 0, 2, 0xc5c5c5c5, SEND_TIMEOUT, 0);
	swtch();
}

void run(int count, char **words)
{
	const unsigned number = count > 1 ? (unsigned)(words[1][0] - '0') : 0;

	switch (words[0][0]) {
	case 'a':
		answer(number, 50);
		break;
	case 'q':
		ask(50);
		break;
	case 'd':
		drain(number, 50);
		break;
	case 'f':
		flood(50);
		break;
	case 'w':
		wait_for_ever();
		break;
	case 'l':
		leave();
		break;
	case 'b':
		be_left();
		break;
	case 'k':
		rob();
		break;
	case 'v':
		be_robbed();
		break;
	case 't':
		tell();
		break;
	case 's':
		listen();
		break;
	}
}

/* What the lab once did wrong, a letter for each: alone, or by two tasks of which the first has the other's port. */
#include "mach.h"

#define AGREED	   100u /* the name of what the first gives the other */
#define OTHER_TASK 3u
#define FREE_NAME  200u

#define SCHED_YIELD  CHOOSE(158, 24)
#define SETITIMER    CHOOSE(104, 38)
#define WAIT	     2u /* thread_switch: for a time */
#define MILLISECONDS 1000

static union {
	struct header header;
	struct reply reply;
	struct {
		struct header head;
		struct word_item items[5];
	};
} message;

#define HEADER ((uint32_t)sizeof(struct header))

static uint32_t size_of(unsigned items)
{
	return HEADER + items * (uint32_t)sizeof(struct word_item);
}

static uint32_t send(uint32_t bits, name to, name answer, uint32_t id, uint32_t size)
{
	message.header = (struct header){.bits = bits, .id = id};
	message.header.remote = to;
	message.header.local = answer;
	return mach_msg(&message, SEND_MSG, size, 0, 0, 0, 0);
}

static uint32_t receive(name from, uint32_t milliseconds)
{
	return mach_msg(&message, RCV_MSG | RCV_TIMEOUT, 0, sizeof(message), from, milliseconds, 0);
}

static name port_of_other(uint32_t right)
{
	const name port = new_port();

	mach_port_insert_right(OTHER_TASK, AGREED, port, right);
	return port;
}

/* The answer to a request by which the other ends itself. */
static void hear_of_the_end(void)
{
	print_number("heard", receive(port_of_other(MAKE_SEND), MILLISECONDS));
	print_number("id", message.header.id);
	print_number("result", message.reply.result.value);
}

static void end_by_message(void)
{
	send(BITS(COPY_SEND, COPY_SEND), self, AGREED, 2008, HEADER);
	mach_print("still there\n");
}

/* The other receives where this one's port was, and is told much. */
static void give_away(void)
{
	port_of_other(MOVE_RECEIVE);
	swtch();
	print_number("the giver may send", send(BITS(MAKE_SEND, 0), new_port(), 0, 1, HEADER));
}

static uint32_t ask_for_the_end_of(name port, name told)
{
	message.items[0] = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = port};
	message.items[1] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = 72};
	message.items[2] = (struct word_item){.type = ITEM(INTEGER_32, 32, 1)};
	message.items[3] = (struct word_item){.type = ITEM(MAKE_SEND_ONCE, WORD_BITS, 1), .value = told};
	return request(self, 3214, COMPLEX, &message, size_of(4), sizeof(message));
}

static void be_told_much(void)
{
	const name port = new_port();

	mach_port_insert_right(self, port, port, MAKE_SEND);
	ask_for_the_end_of(port, AGREED);
	mach_port_deallocate(self, port);
	print_number("told", receive(AGREED, 0));
	print_number("in bytes", message.header.size);
	for (unsigned i = 0; i < 100; i++) {
		mach_port_insert_right(self, FREE_NAME, AGREED, MAKE_SEND_ONCE);
		mach_port_deallocate(self, FREE_NAME);
	}
	print_number("who is told may send", send(BITS(MAKE_SEND, 0), port, 0, 1, HEADER));
	unsigned count = 0;
	while (!receive(AGREED, 0))
		count++;
	print_number("was told more", count);
}

static uintptr_t seconds(void)
{
	request(mach_host_self(), 2634, 0, &message, HEADER, sizeof(message));
	return message.items[1].word;
}

static unsigned ports_until_there_are_none(void)
{
	static name all[512];
	unsigned count = 0;

	while (count < 512 && !mach_port_allocate(self, RECEIVE, &all[count]))
		count++;
	for (unsigned i = count; i-- > 0;) {
		message.items[0] = (struct word_item){.type = ITEM(PORT_NAME, 32, 1), .value = all[i]};
		request(self, 3205, 0, &message, size_of(1), sizeof(message));
	}
	return count;
}

/* A right to something that then ends, in a message that nobody reads. */
static void keep(name in, name of)
{
	message.items[0] = (struct word_item){.type = ITEM(COPY_SEND, WORD_BITS, 1), .value = of};
	send(COMPLEX | BITS(MAKE_SEND_ONCE, 0), in, 0, 1, size_of(1));
}

static void keep_ports(void)
{
	seconds(); /* a request makes the port of the answers */
	const name in = new_port();
	const unsigned before = ports_until_there_are_none();
	name made = 0;

	for (unsigned i = 0; i < 10; i++) {
		task_create(self, 0, &made);
		keep(in, made);
		task_terminate(made);
		mach_port_deallocate(self, made);
	}
	print_number("of tasks", before - ports_until_there_are_none());
	for (unsigned i = 0; i < 10; i++) {
		device_open(2, "time", &made);
		keep(in, made);
		request(made, 2801, 0, &message, HEADER, sizeof(message));
		mach_port_deallocate(self, made);
	}
	print_number("and of devices", before - ports_until_there_are_none());
}

static void wait(uint32_t milliseconds)
{
	thread_switch(0, WAIT, milliseconds);
	mach_print("waited\n");
}

/* Longer than a clock that nobody updates is right. */
static void wait_long(void)
{
	const uint32_t long_time = 1200;
	const uintptr_t before = seconds();

	wait(long_time * MILLISECONDS);
	print_number("in time", seconds() - before - long_time <= 1);
}

/* Lets the other run until it has sent a message, or for very long. */
static void yield_by_linux(void)
{
	const name port = port_of_other(MAKE_SEND);
	unsigned left = 1000000;

	while (left && receive(port, 0)) {
		linux_call(SCHED_YIELD, 0, 0, 0);
		left--;
	}
	print_number("it came", left != 0);
}

static void wait_and_tell(void)
{
	thread_switch(0, WAIT, 5);
	send(BITS(COPY_SEND, 0), AGREED, 0, 1, HEADER);
}

static void set_an_alarm(void)
{
	static const long ten[4] = {0, 0, 0, 10 * MILLISECONDS};

	swtch(); /* now the other waits */
	print_number("alarm", (uint32_t)linux_call(SETITIMER, 0, (long)ten, 0));
}

/* Ranges that begin in a program's memory and end beyond what an address of 32 bits can say. */
static void reach_beyond(void)
{
	const uintptr_t bytes = (uintptr_t)0 - 0x10000000;
	uintptr_t address = 0x60000000;

	print_number("allocate", vm_allocate(self, &address, bytes, 0));
	print_number("map", vm_map(self, &address, bytes, 0, 0, 0, 0, 0, 3, 7, 1));
	print_number("still there", address);
}

void run(int count, char **words)
{
	(void)count;
	switch (words[0][0]) {
	case 'h':
		hear_of_the_end();
		break;
	case 'e':
		end_by_message();
		break;
	case 'g':
		give_away();
		break;
	case 't':
		be_told_much();
		break;
	case 'k':
		keep_ports();
		break;
	case 'w':
		wait(50);
		break;
	case 'l':
		wait_long();
		break;
	case 'y':
		yield_by_linux();
		break;
	case 'm':
		wait_and_tell();
		break;
	case 'a':
		set_an_alarm();
		break;
	case 'r':
		reach_beyond();
		break;
	}
}

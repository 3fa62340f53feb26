/* What mach_msg and the traps of ports refuse, each with its code. A line for each; the table of what must be there is mach.rs's. */
#include "mach.h"

static union {
	struct header header;
	uint8_t bytes[512];
} message;

#define HEADER	   ((uint32_t)sizeof(struct header))
#define ITEMS	   ((struct word_item *)(message.bytes + HEADER))
#define ITEM_BYTES ((uint32_t)sizeof(struct word_item))
#define NOWHERE	   ((void *)0x10)

static void fill(uint32_t bits, name remote, name local)
{
	message.header = (struct header){.bits = bits, .id = 1};
	message.header.remote = remote;
	message.header.local = local;
}

static void try_send(const char *what, uint32_t bits, name remote, name local)
{
	fill(bits, remote, local);
	print_number(what, mach_msg(&message, SEND_MSG | SEND_TIMEOUT, HEADER, 0, 0, 0, 0));
}

/* With one item of a right, and so many bytes of it. */
static void try_item(const char *what, name port, item type, name right, uint32_t bytes)
{
	fill(COMPLEX | BITS(MAKE_SEND, 0), port, 0);
	ITEMS[0] = (struct word_item){.type = type, .word = right};
	print_number(what, mach_msg(&message, SEND_MSG | SEND_TIMEOUT, HEADER + bytes, 0, 0, 0, 0));
}

static uint32_t receive(name from, uint32_t option, uint32_t size)
{
	return mach_msg(&message, RCV_MSG | RCV_TIMEOUT | option, 0, size, from, 0, 0);
}

static void drain(name from)
{
	while (!receive(from, 0, sizeof(message)))
		;
}

static void sizes(name port)
{
	fill(BITS(MAKE_SEND, 0), port, 0);
	print_number("no bytes", mach_msg(&message, SEND_MSG, 0, 0, 0, 0, 0));
	print_number("too few bytes", mach_msg(&message, SEND_MSG, HEADER - 4, 0, 0, 0, 0));
	print_number("odd bytes", mach_msg(&message, SEND_MSG, HEADER + 2, 0, 0, 0, 0));
	print_number("four bytes more", mach_msg(&message, SEND_MSG | SEND_TIMEOUT, HEADER + 4, 0, 0, 0, 0));
	print_number("all bytes", mach_msg(&message, SEND_MSG, 0xfffffff8, 0, 0, 0, 0));
	print_number("too many bytes", mach_msg(&message, SEND_MSG, 32768 + 8, 0, 0, 0, 0));
	print_number("no memory", mach_msg(NOWHERE, SEND_MSG, HEADER, 0, 0, 0, 0));
	print_number("the kernel's",
		     mach_msg((void *)(uintptr_t)0xffffffff80100000, SEND_MSG, HEADER, 0, 0, 0, 0));
	drain(port);
}

static void headers(name port, name other)
{
	try_send("no types", 0, port, 0);
	try_send("to a receive right", BITS(MOVE_RECEIVE, 0), port, 0);
	try_send("to type 22", BITS(22u, 0), port, 0);
	try_send("to type 255", BITS(255u, 0), port, 0);
	try_send("answer by a receive right", BITS(MAKE_SEND, MOVE_RECEIVE), port, other);
	try_send("answer of no type", BITS(MAKE_SEND, 0), port, other);
	try_send("to null", BITS(COPY_SEND, 0), 0, 0);
	try_send("to dead", BITS(COPY_SEND, 0), NAME_DEAD, 0);
	try_send("to nothing", BITS(COPY_SEND, 0), 9999, 0);
	try_send("to a port without a send right", BITS(COPY_SEND, 0), port, 0);
	try_send("answer to nothing", BITS(MAKE_SEND, MAKE_SEND_ONCE), port, 9999);
	try_send("answer without a send right", BITS(MAKE_SEND, COPY_SEND), port, other);
	try_send("both to nothing", BITS(COPY_SEND, MAKE_SEND_ONCE), 9999, 9998);
	try_send("both without a right", BITS(COPY_SEND, COPY_SEND), port, other);
	try_send("two moves of one right", BITS(MOVE_SEND, MOVE_SEND), self, self);
}

static void bodies(name port)
{
	try_item("no body", port, 0, 0, 0);
	try_item("half an item", port, ITEM(COPY_SEND, WORD_BITS, 1), self, sizeof(item));
	try_item("more than there is", port, ITEM(COPY_SEND, WORD_BITS, 3), self, ITEM_BYTES);
	try_item("as many as can be", port, ITEM(INTEGER_32, 32, CHOOSE(4095, 0xffffffff)), 0, ITEM_BYTES);
	try_item("an unused bit", port, ITEM(COPY_SEND, WORD_BITS, 1) | UNUSED_BIT, self, ITEM_BYTES);
	try_item("deallocated", port, ITEM(COPY_SEND, WORD_BITS, 1) | DEALLOCATE, self, ITEM_BYTES);
	try_item("16 bits of a port", port, ITEM(COPY_SEND, 16, 1), self, ITEM_BYTES);
	try_item("the other width", port, ITEM(COPY_SEND, CHOOSE(64, 32), 1), self, ITEM_BYTES);
	try_item("out of line", port, OUT_OF_LINE(COPY_SEND, 32, 1), 0, ITEM_BYTES);
	try_item("no such right", port, ITEM(COPY_SEND, WORD_BITS, 1), 9999, ITEM_BYTES);
	try_item("not that right", port, ITEM(COPY_SEND, WORD_BITS, 1), port, ITEM_BYTES);
	try_item("null", port, ITEM(COPY_SEND, WORD_BITS, 1), 0, ITEM_BYTES);
	try_item("dead", port, ITEM(MOVE_SEND, WORD_BITS, 1), NAME_DEAD, ITEM_BYTES);
	drain(port);
}

static void queues(name port, name other)
{
	for (unsigned i = 0; i < 5; i++)
		try_send("queued", BITS(MAKE_SEND, 0), port, 0);
	try_send("full", BITS(MAKE_SEND, 0), port, 0);
	print_number("came back as", message.header.bits);
	try_send("send-once", BITS(MAKE_SEND_ONCE, 0), port, 0);
	fill(BITS(MAKE_SEND, 0), port, 0);
	print_number("notify", mach_msg(&message, SEND_MSG | SEND_NOTIFY, HEADER, 0, 0, 0, other));
	fill(BITS(MAKE_SEND, 0), port, 0);
	print_number("cancel", mach_msg(&message, SEND_MSG | SEND_CANCEL, HEADER, 0, 0, 0, 0));
	print_number("too large, kept", receive(port, RCV_LARGE, HEADER - 4));
	print_number("needs", message.header.size);
	print_number("too large", receive(port, 0, HEADER - 4));
	print_number("nowhere", mach_msg(NOWHERE, RCV_MSG | RCV_TIMEOUT, 0, 512, port, 0, 0));
	print_number("notified by nobody", receive(port, RCV_NOTIFY, 512));
	drain(port);
	print_number("empty", receive(port, 0, 512));
	print_number("after a while", mach_msg(&message, RCV_MSG | RCV_TIMEOUT, 0, 512, port, 3, 0));
	print_number("from null", receive(0, 0, 512));
	print_number("from dead", receive(NAME_DEAD, 0, 512));
	print_number("from nothing", receive(9999, 0, 512));
	print_number("from a send right", receive(self, 0, 512));
	fill(BITS(MAKE_SEND, 0), port, 0);
	print_number("sent, from nothing",
		     mach_msg(&message, SEND_MSG | RCV_MSG | RCV_TIMEOUT, HEADER, 512, 9999, 0, 0));
	print_number("was sent", receive(port, 0, 512));
}

static void ports(void)
{
	const name port = new_port();
	name made = 0;

	print_number("right 0", mach_port_allocate(self, 0, &made));
	print_number("right 2", mach_port_allocate(self, 2, &made));
	print_number("right 5", mach_port_allocate(self, 5, &made));
	print_number("of no task", mach_port_allocate(port, RECEIVE, &made));
	print_number("of nothing", mach_port_allocate(9999, RECEIVE, &made));
	print_number("a set", mach_port_allocate(self, SET, &made));
	print_number("a set has no references", mach_port_deallocate(self, made));
	print_number("chosen", mach_port_allocate_name(self, RECEIVE, 0xfffffff0));
	print_number("chosen twice", mach_port_allocate_name(self, RECEIVE, 0xfffffff0));
	print_number("chosen null", mach_port_allocate_name(self, RECEIVE, 0));
	print_number("chosen dead", mach_port_allocate_name(self, RECEIVE, NAME_DEAD));
	print_number("not to be dropped", mach_port_deallocate(self, port));
	print_number("nothing dropped", mach_port_deallocate(self, 0));
	print_number("insert", mach_port_insert_right(self, port, port, MAKE_SEND));
	print_number("insert elsewhere", mach_port_insert_right(self, 100, port, MAKE_SEND));
	print_number("insert over", mach_port_insert_right(self, made, port, MAKE_SEND_ONCE));
	print_number("insert once", mach_port_insert_right(self, 101, port, MAKE_SEND_ONCE));
	print_number("insert type 15", mach_port_insert_right(self, 102, port, 15));
	print_number("insert null", mach_port_insert_right(self, 102, 0, COPY_SEND));
	print_number("insert nothing", mach_port_insert_right(self, 102, 9999, COPY_SEND));
	print_number("insert what it is not", mach_port_insert_right(self, 102, 101, COPY_SEND));
	print_number("insert as null", mach_port_insert_right(self, 0, port, MAKE_SEND));
}

static void memory(name port)
{
	uintptr_t at = 0, taken;

	print_number("allocate nothing", vm_allocate(self, &at, 0, 1));
	print_number("allocate", vm_allocate(self, &at, 1, 1));
	*(volatile uint32_t *)at = 5;
	taken = at + 5;
	print_number("allocate there again", vm_allocate(self, &taken, 4096, 0));
	taken = (uintptr_t)-4096;
	print_number("allocate beyond", vm_allocate(self, &taken, 4096, 0));
	print_number("allocate all", vm_allocate(self, &taken, (uintptr_t)-4096, 1));
	print_number("allocate nowhere", vm_allocate(self, NOWHERE, 4096, 1));
	print_number("allocate of no task", vm_allocate(port, &taken, 4096, 1));
	print_number("deallocate", vm_deallocate(self, at, 4096));
	print_number("deallocate again", vm_deallocate(self, at, 4096));
	print_number("deallocate beyond", vm_deallocate(self, (uintptr_t)-8192, (uintptr_t)-1));
	print_number("map", vm_map(self, &at, 4096, 0, 1, 0, 0, 0, 3, 7, 1));
	*(volatile uint32_t *)at = 5;
	print_number("map nothing", vm_map(self, &at, 0, 0, 1, 0, 0, 0, 3, 7, 1));
	print_number("map with other rights", vm_map(self, &at, 4096, 0, 1, 0, 0, 0, 8, 7, 1));
	print_number("map no object", vm_map(self, &at, 4096, 0, 1, 9999, 0, 0, 1, 1, 1));
}

static void tasks(name port)
{
	name made = 0;
	uintptr_t at = 0;

	print_number("create", task_create(self, 0, &made));
	print_number("its memory", vm_allocate(made, &at, 4096, 1));
	print_number("its port", mach_port_allocate_name(made, RECEIVE, 5));
	print_number("create with memory", task_create(self, 1, &made));
	print_number("create of no task", task_create(port, 0, &made));
	print_number("end", task_terminate(made));
	print_number("end again", task_terminate(made));
	print_number("its name is dead", mach_port_deallocate(self, made));
}

void run(int count, char **words)
{
	(void)count;
	(void)words;
	const name port = new_port(), other = new_port();
	sizes(port);
	headers(port, other);
	bodies(port);
	queues(port, other);
	ports();
	memory(port);
	tasks(port);
}

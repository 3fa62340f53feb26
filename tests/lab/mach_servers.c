/* Requests to the kernel as MIG's stubs send them, and the time of the device. */
#include "mach.h"

#define HEADER	   ((uint32_t)sizeof(struct header))
#define ITEM_BYTES ((uint32_t)sizeof(struct word_item))

static struct {
	struct header header;
	struct word_item items[20];
} message;

static void put(unsigned place, item type, uintptr_t value)
{
	message.items[place].type = type;
	message.items[place].word = value;
}

static uint32_t ask(name to, uint32_t id, unsigned items)
{
	return request(to, id, 0, &message, HEADER + items * ITEM_BYTES, sizeof(message));
}

static uint32_t ask_with_rights(name to, uint32_t id, unsigned items)
{
	return request(to, id, COMPLEX, &message, HEADER + items * ITEM_BYTES, sizeof(message));
}

static void memory_by_message(void)
{
	put(0, WORD_ITEM, 0);
	put(1, WORD_ITEM, 5000);
	put(2, ITEM(BOOLEAN, 32, 1), 1);
	print_number("vm_allocate", ask(self, 2021, 3));
	print_number(" size", message.header.size);
	const uintptr_t at = message.items[1].word;
	print_number(" zero", *(volatile uint32_t *)(at + 8188));
	put(0, WORD_ITEM, at);
	put(1, WORD_ITEM, 5000);
	print_number("vm_deallocate", ask(self, 2023, 2));
}

static void ports_by_message(void)
{
	put(0, ITEM(INTEGER_32, 32, 1), RECEIVE);
	print_number("mach_port_allocate", ask(self, 3204, 1));
	const name port = message.items[1].value;
	put(0, ITEM(PORT_NAME, 32, 1), port);
	put(1, ITEM(MAKE_SEND, WORD_BITS, 1), port);
	print_number("mach_port_insert_right", ask_with_rights(self, 3215, 2));
	put(0, ITEM(PORT_NAME, 32, 1), port);
	print_number("mach_port_type", ask(self, 3201, 1));
	print_number(" type", message.items[1].value);
	put(0, ITEM(PORT_NAME, 32, 1), port);
	put(1, ITEM(INTEGER_32, 32, 1), 0);
	put(2, ITEM(INTEGER_32, 32, 1), 65533);
	print_number("mach_port_mod_refs", ask(self, 3208, 3));
	put(0, ITEM(PORT_NAME, 32, 1), port);
	put(1, ITEM(INTEGER_32, 32, 1), 0);
	put(2, ITEM(INTEGER_32, 32, 1), 1);
	print_number("one reference too many", ask(self, 3208, 3));
	put(0, ITEM(PORT_NAME, 32, 1), port);
	put(1, ITEM(INTEGER_32, 32, 1), 0);
	print_number("mach_port_get_refs", ask(self, 3207, 2));
	print_number(" references", message.items[1].value);
	put(0, ITEM(PORT_NAME, 32, 1), port);
	print_number("mach_port_get_receive_status", ask(self, 3217, 1));
	print_number(" size", message.header.size);
	put(0, ITEM(PORT_NAME, 32, 1), port);
	print_number("mach_port_deallocate", ask(self, 3206, 1));
	put(0, ITEM(PORT_NAME, 32, 1), port);
	print_number("mach_port_destroy", ask(self, 3205, 1));
	put(0, ITEM(PORT_NAME, 32, 1), port);
	print_number("and again", ask(self, 3205, 1));
}

static void clocks(name host)
{
	print_number("host_get_time", ask(host, 2634, 0));
	print_number(" size", message.header.size);
	print_number(" seconds", message.items[1].word);
	print_number("host_get_time64", ask(host, 2643, 0));
	print_number(" size", message.header.size);
	print_number("time of a task", ask(self, 2634, 0));
}

static name device(name master, const char *called)
{
	name opened;

	print_number("device_open", device_open(master, called, &opened));
	return opened;
}

struct mapped {
	int32_t seconds, microseconds, check_seconds;
};

/* The page goes on, and is never ahead of itself. */
static void follow(const volatile struct mapped *page)
{
	const int32_t first = page->microseconds;
	int32_t last = first;
	uint32_t steps = 0;

	print_number("mapped seconds", (uint32_t)page->seconds);
	print_number("mapped check", (uint32_t)page->check_seconds);
	for (unsigned i = 0; i < 100 && steps < 3; i++) {
		thread_switch(0, 2, 3);
		steps += page->microseconds > last;
		last = page->microseconds;
	}
	print_number("steps", steps);
}

static uint32_t map_device(name of, uint32_t rights, uintptr_t bytes, uintptr_t *at)
{
	put(0, WORD_ITEM, 0);
	put(1, WORD_ITEM, bytes);
	put(2, WORD_ITEM, 0);
	put(3, ITEM(BOOLEAN, 32, 1), 1);
	put(4, ITEM(COPY_SEND, WORD_BITS, 1), of);
	put(5, WORD_ITEM, 0);
	put(6, ITEM(BOOLEAN, 32, 1), 0);
	put(7, ITEM(INTEGER_32, 32, 1), rights);
	put(8, ITEM(INTEGER_32, 32, 1), rights);
	put(9, ITEM(INTEGER_32, 32, 1), 1);
	const uint32_t result = ask_with_rights(self, 2089, 10);
	*at = message.items[1].word;
	return result;
}

static void time_device(void)
{
	uintptr_t at;

	device(1, "time");
	device(2, "nothing");
	const name clock = device(2, "time");
	put(0, ITEM(INTEGER_32, 32, 1), 16);
	put(1, WORD_ITEM, 0);
	put(2, WORD_ITEM, 64);
	put(3, ITEM(INTEGER_32, 32, 1), 0);
	print_number("device_map, rights 16", ask(clock, 2809, 4));
	put(0, ITEM(INTEGER_32, 32, 1), 1);
	print_number("device_map", ask(clock, 2809, 4));
	print_number(" bits", message.header.bits);
	const name pager = message.items[1].value;
	print_number("vm_map to write", map_device(pager, 3, 64, &at));
	print_number("vm_map of a device", map_device(clock, 1, 64, &at));
	print_number("vm_map", map_device(pager, 1, 8192, &at));
	print_number("both pages are one", ((uint32_t *)at)[0] == ((uint32_t *)(at + 4096))[0]);
	print_number("device_close", ask(clock, 2801, 0));
	print_number("device_close again", ask(clock, 2801, 0));
	follow((const struct mapped *)at);
}

/* What the kernel's stubs check before they do anything. */
static void mistakes(void)
{
	print_number("no such id", ask(self, 2999, 0));
	print_number(" id", message.header.id);
	print_number("a notification's id", ask(self, 72, 0));
	print_number("too short", ask(self, 2021, 2));
	print_number("too long", ask(self, 2021, 4));
	put(0, WORD_ITEM, 0);
	put(1, WORD_ITEM, 5000);
	put(2, ITEM(INTEGER_32, 32, 1), 1);
	print_number("not a boolean", ask(self, 2021, 3));
	put(0, ITEM(PORT_NAME, 32, 1), 99);
	put(1, ITEM(INTEGER_32, 32, 1), 1);
	print_number("not a right", ask(self, 3215, 2));
	print_number("ports of the host", ask(mach_host_self(), 3204, 1));
	put(0, ITEM(INTEGER_32, 32, 1), 0);
	print_number("reboot by the host's port", ask(mach_host_self(), 2635, 1));
}

void run(int count, char **words)
{
	(void)count;
	(void)words;
	memory_by_message();
	ports_by_message();
	clocks(mach_host_self());
	time_device();
	mistakes();
	put(0, ITEM(INTEGER_32, 32, 1), 0);
	ask(1, 2635, 1);
	mach_print("it goes on\n");
}

/* Every stub of libmachstub, by a program that is compiled once and linked with each variant. Its second word is the device master port, or `nobody`. */
#include "mach.h"
#include "../../mach/stub/mach_traps.h"

static void say(const char *what, uint32_t number)
{
	char text[] = " 00000000\n";

	for (unsigned i = 0; i < 8; i++)
		text[8 - i] = "0123456789abcdef"[number >> 4 * i & 15];
	mach_print(what);
	mach_print(text);
}

static void ports(name self)
{
	name port = 0;

	say("allocate", syscall_mach_port_allocate(self, RECEIVE, &port));
	say("port", port);
	say("insert_right", syscall_mach_port_insert_right(self, port, port, MAKE_SEND));
	struct word_message {
		struct header header;
		struct word_item item;
	} message = {.header = {.bits = BITS(COPY_SEND, 0), .id = 7}};
	message.header.remote = port;
	message.item = (struct word_item){.type = ITEM(INTEGER_32, 32, 1), .value = 99};
	say("mach_msg", mach_msg_trap(&message, SEND_MSG | RCV_MSG | RCV_TIMEOUT, sizeof(message),
				      sizeof(message), port, 1, 0));
	say("id", message.header.id);
	say("value", message.item.value);
	say("empty", mach_msg_trap(&message, RCV_MSG | RCV_TIMEOUT, 0, sizeof(message), port, 1, 0));
	say("deallocate", syscall_mach_port_deallocate(self, port));
	say("allocate_name", syscall_mach_port_allocate_name(self, DEAD_NAME, 0x8000));
}

static void memory(name self)
{
	uintptr_t at = 0, other = 0;

	say("vm_allocate", syscall_vm_allocate(self, &at, 2 * PAGE, 1));
	*(volatile uint32_t *)(at + PAGE) = 1;
	say("vm_map", syscall_vm_map(self, &other, PAGE, 0, 1, 0, 0, 0, 3, 7, 1));
	*(volatile uint32_t *)other = 1;
	say("vm_map's eleventh", syscall_vm_map(self, &other, PAGE, 0, 1, 0, 0, 0, 3, 7, 3));
	say("vm_deallocate", syscall_vm_deallocate(self, at, 2 * PAGE));
}

static void others(name self)
{
	name made = 0;

	say("thread", mach_thread_self());
	say("host", mach_host_self());
	say("reply", mach_reply_port());
	say("evc_wait", evc_wait(1));
	say("evc_wait_clear", evc_wait_clear(1));
	say("swtch", swtch());
	say("swtch_pri", swtch_pri(1));
	say("thread_switch", thread_switch(0, 2, 1));
	say("thread_switch's second", thread_switch(0, 3, 0));
	/* What the lab does not have; of no task, for GNU Mach would do it. */
	say("task_suspend", syscall_task_suspend(0));
	say("task_set_special_port", syscall_task_set_special_port(0, 1, 0));
	say("thread_depress_abort", syscall_thread_depress_abort(0));
	say("thread_set_self_state", thread_set_self_state(1, 0, 0));
	say("task_create", syscall_task_create(self, 0, &made));
	say("task_terminate", syscall_task_terminate(made));
}

/* A port whose messages nobody receives. */
static name port_of_nobody(void)
{
	const name self = mach_task_self();
	name port = 0;

	syscall_mach_port_allocate(self, RECEIVE, &port);
	syscall_mach_port_insert_right(self, port, port, MAKE_SEND);
	return port;
}

void begin(long *stack);
void begin(long *stack)
{
	char **const words = (char **)(stack + 1);
	const uint32_t master = words[2][0] == 'n' ? port_of_nobody() : (uint32_t)(words[2][0] - '0');
	const uint32_t result = mach_stub_begin(master);

	mach_print(mach_stub_entry());
	say("", result);
	if (mach_stub_begin(master) != result)
		mach_print("another result, the second time\n");
	const name self = mach_task_self();
	say("task", self);
	ports(self);
	memory(self);
	others(self);
	syscall_task_terminate(self);
}

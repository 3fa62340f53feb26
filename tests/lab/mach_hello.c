/* Each trap that needs no message, and what it answers. */
#include "mach.h"

static void print_words(int count, char **words)
{
	for (int i = 0; i < count; i++) {
		mach_print("[");
		mach_print(words[i]);
		mach_print("]");
	}
	mach_print("\n");
}

/* A string that ends where memory does. */
static void print_at_the_edge(void)
{
	uintptr_t at = 0;

	vm_allocate(self, &at, 8192, 1);
	vm_deallocate(self, at + 4096, 4096);
	memcpy((void *)(at + 4096 - 6), "edge\n", 6);
	mach_print((const char *)at + 4096 - 6);
	/* And one that does not end there. */
	memset((void *)(at + 4096 - 6), 'x', 6);
	print_number("endless", mach_print((const char *)at + 4096 - 6));
}

void run(int count, char **words)
{
	mach_print("hello");
	mach_print("");
	print_number("", sizeof(long) * 8);
	print_words(count, words);
	print_number("null", mach_print(0));
	print_number("bad", mach_print((const char *)0x10));
	print_number("kernel", mach_print((const char *)(uintptr_t)0xffffffff80100000));
	print_at_the_edge();
	print_number("trap 31", trap_31());
	print_number("trap 10", trap_10());
	print_number("trap 129", trap_129());
	print_number("task", self);
	print_number("task again", mach_task_self());
	print_number("thread", mach_thread_self());
	print_number("host", mach_host_self());
	print_number("reply", mach_reply_port());
	print_number("evc_wait", evc_wait(1));
	print_number("swtch", swtch());
	print_number("swtch_pri", swtch_pri(3));
	print_number("thread_switch", thread_switch(0, 0, 0));
	print_number("thread_switch 3", thread_switch(0, 3, 0));
	print_number("thread_switch wait", thread_switch(9999, 2, 1));
	print_number("mach_msg", mach_msg(0, 0, 0, 0, 0, 0, 0));
	print_number("changed", (uint64_t)registers_changed(-28));
	print_number("changed by none", (uint64_t)registers_changed(-31));
}

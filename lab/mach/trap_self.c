/* Traps that tell a program who it is, print what it says, and let others run. */
#include "mach/task.h"
#include "mach/trap.h"
#include "user/files.h"
#include "user/thread.h"
#include "user/user.h"

/* mach_print reads so much at once, and no more than that of a string without an end. */
#define PRINT_CHUNK 256u
#define PRINT_MOST  65536u

uint32_t do_null_port(const uint64_t *words)
{
	(void)words;
	return NAME_NULL;
}

/* There are no event counters, which are for drivers in programs. */
uint32_t do_evc_wait(const uint64_t *words)
{
	(void)words;
	return KERN_INVALID_ARGUMENT;
}

/* Another reference each time. */
static uint32_t name_of(struct port *port)
{
	int is_full;

	return port ? right_give(current->mach.task, port_make_send(port), &is_full) : NAME_NULL;
}

uint32_t do_mach_task_self(const uint64_t *words)
{
	(void)words;
	return name_of(current->mach.task->self);
}

uint32_t do_mach_thread_self(const uint64_t *words)
{
	(void)words;
	return name_of(current->mach.self);
}

uint32_t do_mach_host_self(const uint64_t *words)
{
	(void)words;
	return name_of(port_of_host(0));
}

uint32_t do_mach_reply_port(const uint64_t *words)
{
	uint32_t name = NAME_NULL;

	(void)words;
	right_allocate(current->mach.task, RIGHT_RECEIVE, &name);
	return name;
}

/* How many of a string's bytes come before its end, or to the end of the page: there may be no page behind. -1: none can be read. */
static int read_part(char *to, uint64_t from, int *is_end)
{
	const uint64_t in_page = PAGE - from % PAGE;
	const uint64_t bytes = in_page < PRINT_CHUNK ? in_page : PRINT_CHUNK;

	if (user_read(to, from, bytes))
		return -1;
	uint64_t count = 0;
	while (count < bytes && to[count])
		count++;
	*is_end = count < bytes;
	return (int)count;
}

/* A null pointer prints nothing, as there. */
uint32_t do_mach_print(const uint64_t *words)
{
	static char chunk[PRINT_CHUNK];
	uint64_t from = words[0], printed = 0;
	int is_end = 0;

	if (!from)
		return KERN_SUCCESS;
	while (!is_end && printed < PRINT_MOST) {
		const int count = read_part(chunk, from + printed, &is_end);
		if (count < 0)
			return KERN_INVALID_ADDRESS;
		if (count)
			output_write(chunk, (uint64_t)count);
		printed += (uint64_t)count;
	}
	return KERN_SUCCESS;
}

uint32_t do_swtch(const uint64_t *words)
{
	(void)words;
	return (uint32_t)wait_yield();
}

uint32_t do_swtch_pri(const uint64_t *words)
{
	return do_swtch(words);
}

/* The hint whom to switch to is none here: threads take turns. */
uint32_t do_thread_switch(const uint64_t *words)
{
	const uint32_t option = (uint32_t)words[1];

	if (option > SWITCH_OPTION_WAIT)
		return KERN_INVALID_ARGUMENT;
	if (option == SWITCH_OPTION_WAIT)
		return wait_for(0, 0, 1, (uint32_t)words[2], KERN_SUCCESS);
	wait_yield();
	return KERN_SUCCESS;
}

/* Threads of a task: made, given registers, begun and ended by requests as MIG's stubs send them; what they get wrong; how many there are. */
#include "mach.h"

#define HEADER	   ((uint32_t)sizeof(struct header))
#define ITEM_BYTES ((uint32_t)sizeof(struct word_item))

#define THREAD_TERMINATE 2016u
#define THREAD_SET_STATE 2018u
#define THREAD_CREATE	 2061u
#define THREAD_RESUME	 2063u
#define THREAD_STATE	 1u

/* i386_thread_state (mach/machine/thread_status.h). */
struct state {
#ifdef __x86_64__
	uint64_t others[16], pc;
	uint32_t cs;
	uint64_t flags, user_sp;
#else
	uint32_t others[12], pc, cs, flags, user_sp;
#endif
	uint32_t ss;
};
SIZE(struct state, 68, 168);
OFFSET(struct state, pc, 48, 128);
OFFSET(struct state, user_sp, 60, 152);
#define STATE_NUMBERS (sizeof(struct state) / 4)

static union {
	struct header header;
	struct {
		struct header header;
		struct word_item items[2];
	} answer;
	struct {
		struct header header;
		struct word_item flavor;
		item type;
		struct state state;
	} set;
} message;

static uint32_t ask(name to, uint32_t id)
{
	return request(to, id, 0, &message, HEADER, sizeof(message));
}

static name new_thread(const char *what)
{
	const uint32_t result = ask(self, THREAD_CREATE);

	if (what)
		print_number(what, result);
	return result ? 0 : message.answer.items[1].value;
}

/* Of so many numbers, by a message of so many. */
static uint32_t set_state(name thread, uint32_t flavor, uintptr_t pc, uintptr_t stack, uint32_t numbers,
			  uint32_t sent)
{
	memset(&message, 0, sizeof(message));
	message.set.flavor = (struct word_item){ITEM(INTEGER_32, 32, 1), {flavor}};
	message.set.type = ITEM(INTEGER_32, 32, numbers);
	message.set.state.pc = pc;
	message.set.state.user_sp = stack;
	message.set.state.flags = 0x38d5; /* all of arithmetic, and IOPL, which nobody gets */
	return request(thread, THREAD_SET_STATE, 0, &message,
		       (uint32_t)offsetof(__typeof__(message.set), state) + sent * 4, sizeof(message));
}

#define STACK_BYTES 4096
static uint8_t stacks[2][STACK_BYTES] __attribute__((aligned(16)));

static uint32_t begin(name thread, void (*at)(void), unsigned which)
{
	/* As behind a call, whose return address would be there. */
	const uintptr_t top = (uintptr_t)&stacks[which][STACK_BYTES] - sizeof(uintptr_t);

	return set_state(thread, THREAD_STATE, (uintptr_t)at, top, STATE_NUMBERS, STATE_NUMBERS);
}

static _Noreturn void ends_itself(void)
{
	struct {
		struct header header;
	} last = {{.bits = BITS(COPY_SEND, 0), .remote = mach_thread_self(), .id = THREAD_TERMINATE}};

	mach_msg(&last, SEND_MSG, HEADER, 0, 0, 0, 0);
	mach_print("a thread has ended itself, and goes on\n");
	for (;;)
		swtch();
}

static volatile uint32_t shared;
static name ours, theirs;

/* Answers a request, in memory and by a message, and ends. */
static _Noreturn void answers_once(void)
{
	struct header got;
	const uint32_t result = mach_msg(&got, RCV_MSG, 0, sizeof(got), ours, 0, 0);

	shared = result ? result : got.id;
	struct header reply = {.bits = BITS(MOVE_SEND_ONCE, 0), .remote = got.remote, .id = got.id + 100};
	mach_msg(&reply, SEND_MSG, HEADER, 0, 0, 0, 0);
	ends_itself();
}

static void one_answers(void)
{
	ours = new_port();
	theirs = mach_reply_port();
	mach_port_insert_right(self, ours, ours, MAKE_SEND);
	const name thread = new_thread("thread_create");
	print_number("its name is new", thread && thread != mach_thread_self());
	print_number("thread_set_state", begin(thread, answers_once, 0));
	print_number(" size", message.header.size);
	print_number("thread_resume", ask(thread, THREAD_RESUME));
	print_number("and again", ask(thread, THREAD_RESUME));
	struct header asked = {
	    .bits = BITS(COPY_SEND, MAKE_SEND_ONCE), .remote = ours, .local = theirs, .id = 42};
	print_number("mach_msg", mach_msg(&asked, SEND_MSG | RCV_MSG, HEADER, HEADER, theirs, 0, 0));
	print_number(" id", asked.id);
	print_number("in the same memory", shared);
	swtch();
	print_number("who has ended has a dead name", ask(thread, THREAD_RESUME));
}

static void mistakes(void)
{
	const name thread = new_thread("another");

	print_number("other registers", set_state(thread, 99, 4096, 4096, STATE_NUMBERS, STATE_NUMBERS));
	print_number("too few",
		     set_state(thread, THREAD_STATE, 4096, 4096, STATE_NUMBERS - 2, STATE_NUMBERS - 2));
	print_number("none", set_state(thread, THREAD_STATE, 4096, 4096, 0, 0));
	print_number("more than there are",
		     set_state(thread, THREAD_STATE, 4096, 4096, STATE_NUMBERS + 2, STATE_NUMBERS));
	print_number("fewer than there are",
		     set_state(thread, THREAD_STATE, 4096, 4096, STATE_NUMBERS - 2, STATE_NUMBERS));
	print_number("a wild address", set_state(thread, THREAD_STATE, CHOOSE(0xffff0000u, 0x800000000000),
						 4096, STATE_NUMBERS, STATE_NUMBERS));
	print_number("its own",
		     set_state(mach_thread_self(), THREAD_STATE, 4096, 4096, STATE_NUMBERS, STATE_NUMBERS));
	print_number("of a task", set_state(self, THREAD_STATE, 4096, 4096, STATE_NUMBERS, STATE_NUMBERS));
	print_number("a thread of a thread", ask(thread, THREAD_CREATE));
	print_number("thread_resume of itself", ask(mach_thread_self(), THREAD_RESUME));
	print_number("thread_terminate", ask(thread, THREAD_TERMINATE));
	print_number("its name is dead", ask(thread, THREAD_TERMINATE));
}

/* Who ends has a place to give, and a thread of another task is of that task. */
static void how_many(void)
{
	name made[16] = {0};
	unsigned count = 0;

	for (unsigned i = 0; i < 200; i++) {
		const name thread = new_thread(0);
		shared = ask(thread, THREAD_TERMINATE);
		mach_port_deallocate(self, thread);
		count += thread && !shared;
	}
	print_number("made and ended", count);
	for (count = 0; count < 16 && (made[count] = new_thread(0)); count++)
		;
	print_number("at once", count);
	print_number("then", ask(self, THREAD_CREATE));
	for (unsigned i = 0; i < count; i++)
		ask(made[i], THREAD_TERMINATE);
	name child;
	print_number("task_create", task_create(self, 0, &child));
	print_number("thread_create in it", ask(child, THREAD_CREATE));
	const name thread = message.answer.items[1].value;
	print_number("task_terminate", task_terminate(child));
	print_number("its thread has gone", ask(thread, THREAD_RESUME));
}

/* Its queue is full, and it waits; what it could not send goes with it, and so does its right. */
static _Noreturn void sends_for_ever(void)
{
	for (;;) {
		struct header sent = {.bits = BITS(COPY_SEND, 0), .remote = ours, .id = 1};
		mach_msg(&sent, SEND_MSG, HEADER, 0, 0, 0, 0);
		shared++;
	}
}

static void one_waits(void)
{
	shared = 0;
	const name thread = new_thread("a third");
	begin(thread, sends_for_ever, 1);
	print_number("it begins", ask(thread, THREAD_RESUME));
	swtch();
	print_number("sent", shared);
	print_number("ended", ask(thread, THREAD_TERMINATE));
	struct header got;
	unsigned count = 0;
	while (!mach_msg(&got, RCV_MSG | RCV_TIMEOUT, 0, sizeof(got), ours, 0, 0))
		count++;
	print_number("received", count);
}

/* What waiting threads were told: by each, once. */
static volatile uint32_t told[2];
static volatile unsigned tellers;
static uint32_t options, milliseconds;

static _Noreturn void waits(void)
{
	struct {
		struct header header;
		uintptr_t words[4];
	} got;
	/* The first has room for a header alone. */
	const uint32_t room = tellers++ ? sizeof(got) : HEADER, which = tellers - 1;

	told[which] = mach_msg(&got, RCV_MSG | (which ? 0 : options), 0, room, ours, milliseconds, 0);
	ends_itself();
}

/* Two wait at a new port, in their order. */
static name two_wait(void)
{
	told[0] = told[1] = 0xffff;
	tellers = 0;
	ours = new_port();
	mach_port_insert_right(self, ours, ours, MAKE_SEND);
	const name first = new_thread(0);
	begin(first, waits, 0);
	ask(first, THREAD_RESUME);
	swtch();
	const name second = new_thread(0);
	begin(second, waits, 1);
	ask(second, THREAD_RESUME);
	swtch();
	return first;
}

static void send_words(unsigned words)
{
	struct {
		struct header header;
		uintptr_t words[4];
	} sent = {.header = {.bits = BITS(COPY_SEND, 0), .remote = ours, .id = 7}};

	mach_msg(&sent, SEND_MSG, HEADER + (uint32_t)(words * sizeof(uintptr_t)), 0, 0, 0, 0);
}

static void print_told(const char *what)
{
	for (unsigned i = 0; i < 10; i++)
		swtch();
	print_number(what, told[0]);
	print_number(" the other", told[1]);
}

/* All are told of a port that is not theirs any more, and a message finds whoever can take it. */
static void several_wait(void)
{
	name child;

	two_wait();
	mach_port_insert_right(self, 99, ours, MAKE_SEND);
	task_create(self, 0, &child);
	mach_port_insert_right(child, 100, ours, MOVE_RECEIVE);
	print_told("the port has moved");
	const name first = two_wait();
	send_words(0);
	print_number("woken, and ended before it runs", ask(first, THREAD_TERMINATE));
	print_told("it was told nothing");
	options = RCV_LARGE;
	two_wait();
	send_words(4);
	print_told("no room for it");
	options = RCV_TIMEOUT;
	milliseconds = 4;
	two_wait();
	/* What wakes it has been taken when it runs: it has waited so long already. */
	unsigned turns = 0;
	for (; told[0] == 0xffff && turns < 20; turns++) {
		struct header got;
		thread_switch(0, 2, 2);
		send_words(0);
		mach_msg(&got, RCV_MSG | RCV_TIMEOUT, 0, sizeof(got), ours, 0, 0);
	}
	print_number("its time is over", told[0]);
	print_number("in time", turns < 5);
}

void run(int count, char **words)
{
	(void)count;
	(void)words;
	one_answers();
	mistakes();
	how_many();
	one_waits();
	several_wait();
	/* It waits for ever, and ends with the task. */
	const name thread = new_thread("a last");
	begin(thread, answers_once, 0);
	print_number("it begins", ask(thread, THREAD_RESUME));
	swtch();
	print_number("state of one that runs", begin(thread, answers_once, 0));
	mach_print("all end\n");
}

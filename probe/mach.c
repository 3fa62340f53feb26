/*
 * What traps of GNU Mach are given, and the server that answers a message (docs/mach.md). The lab alone has them; on Linux a negative
 * number is no call. What it knows of Mach's messages, mach/stub/message.h has; of the mapped time, mach/time_value.h.
 */
#include "../mach/stub/message.h"
#include "probe.h"

#define ENOSYS 38

/* Names that a task has when it begins. */
#define DEVICE_MASTER 2u
#define SERVER_TASK   3u
/* What the server calls the port that it receives from; the client gives it the right. */
#define SERVED	      100u

#define TRAP_MACH_MSG	   25
#define TRAP_REPLY_PORT	   26
#define TRAP_TASK_SELF	   28
#define TRAP_VM_MAP	   64
#define TRAP_PORT_ALLOCATE 72
#define TRAP_PORT_INSERT   74
#define RIGHT_RECEIVE	   1

#define ID_THREAD_SET_STATE 2018u
#define ID_THREAD_CREATE    2061u
#define ID_THREAD_RESUME    2063u
#define i386_THREAD_STATE   1u

/* Ids of messages to the server. */
#define ID_REQUEST 4711u
#define ID_END	   4712u

/* What WRITE_HEADER overwrites: the words that have all of a header but, of 32 bits, its size and sequence. */
#define WORD_OF(member) (offsetof(mach_msg_header_t, member) / WORD * WORD)
_Static_assert(sizeof(mach_msg_header_t) == HEADER_BYTES, "mach_msg_header_t");
_Static_assert(WORD_OF(msgh_bits) == HEADER_BITS && WORD_OF(msgh_remote_port) == HEADER_REMOTE_PORT &&
		   WORD_OF(msgh_local_port) == HEADER_LOCAL_PORT && WORD_OF(msgh_id) == HEADER_ID,
	       "mach_msg_header_t");

#define MOST_BYTES 4096u
#define WORDS	   (MOST_BYTES / 4)

/* What stands behind the header, if anything: one item. */
struct message {
	mach_msg_header_t header;
	mach_msg_type_t type;
	union {
		uint32_t words[WORDS];
		unsigned long name;
	};
};
_Static_assert(offsetof(struct message, words) == HEADER_BYTES + sizeof(mach_msg_type_t), "as on the wire");

/* What WRITE_HEADER copies, and where to. */
mach_msg_header_t mach_header;
struct message mach_message;

static int has_server; /* that is to be told when there are no more requests */

/* A server has its message and its invocation for itself: it may be a thread of its client's task. */
static struct message served;
#define SERVERS_INVOCATION 1
_Static_assert(MOST_CALLS > SERVERS_INVOCATION, "one beside the client's");

#define TRAP(number, ...) ((uint32_t)mach_trap(-(number), (const unsigned long[MACH_ARGUMENTS]){__VA_ARGS__}))

/* Linux has no such number, and says so. */
static uint32_t need_self(void)
{
	const uint32_t self = TRAP(TRAP_TASK_SELF, 0);

	if (self == (uint32_t)-ENOSYS)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, ENOSYS, 0, 0, 0);
	return self;
}

static _Noreturn void fails(uint32_t result)
{
	emit_refusal(OUTCOME_MISMATCH, CAUSE_ANSWER, result, 0, 0, 0);
}

static void need(uint32_t result)
{
	if (result)
		fails(result);
}

static uint32_t message_bytes(const struct operation *operation)
{
	const uint32_t before = offsetof(struct message, words);

	if (operation->has_right)
		return before + sizeof(mach_message.name);
	return operation->bytes ? before + operation->bytes : HEADER_BYTES;
}

/* A trap that sends, receives or both. */
static void give_message(struct invocation *to, struct message *message, const struct operation *operation,
			 uint32_t option, uint32_t from)
{
	const uint32_t bytes = message_bytes(operation);
	const unsigned long arguments[INVOCATION_ARGUMENTS] = {
	    (unsigned long)message, option, bytes, bytes, from, 0, 0};

	for (unsigned i = 0; i < INVOCATION_ARGUMENTS; i++)
		to->args[i] = arguments[i];
}

static void prepare_own_port(const struct operation *operation)
{
	need_self();
	const uint32_t port = TRAP(TRAP_REPLY_PORT, 0);

	mach_header = (mach_msg_header_t){.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0),
					  .msgh_size = HEADER_BYTES,
					  .msgh_remote_port = port,
					  .msgh_id = ID_REQUEST};
	give_message(&invocations[0], &mach_message, operation, MACH_SEND_MSG | MACH_RCV_MSG, port);
}

/* The right that goes to the server and back, and how often the server has marked the words, when last it was looked. */
static uint32_t travels, marked;

static uint32_t word_at(unsigned index)
{
	return 0x9e3779b9u * (index + 1);
}

/* What the server sends back is what the next request has: so nothing here is written before each use. A right comes back as one to move. */
static void prepare_content(const struct operation *operation, uint32_t self)
{
	if (operation->has_right) {
		travels = TRAP(TRAP_REPLY_PORT, 0);
		need(TRAP(TRAP_PORT_INSERT, self, travels, travels, MACH_MSG_TYPE_MAKE_SEND));
		mach_message.type = ITEM_SEND_RIGHT;
		mach_message.name = travels;
	} else {
		mach_message.type = DESCRIBED(MACH_MSG_TYPE_INTEGER_32, 32, operation->bytes / 4);
		for (unsigned i = 0; i < operation->bytes / 4; i++)
			mach_message.words[i] = word_at(i);
	}
}

static _Noreturn void serve_port(const struct request *request, uint32_t port);

/* mach/machine/thread_status.h; `others` are general registers and, of 32 bits, selectors. Selectors are the kernel's to choose. */
struct i386_thread_state {
#ifdef __x86_64__
	uint64_t others[16], rip, cs, rfl, ursp, ss;
#else
	uint32_t others[12], eip, cs, efl, uesp, ss;
#endif
};
_Static_assert(sizeof(struct i386_thread_state) == (sizeof(long) == 8 ? 168 : 68), "i386_THREAD_STATE_COUNT");

/* A request to the kernel's server, and its answer. */
static union {
	union device_message device;
	struct {
		mach_msg_header_t head;
		struct item flavor;
		mach_msg_type_t type;
		struct i386_thread_state registers;
	} state;
} asked;
#define STATE_REQUEST_BYTES (offsetof(__typeof__(asked.state), registers) + sizeof(struct i386_thread_state))

/* The answer's code. */
static uint32_t ask(uint32_t to, uint32_t id, unsigned long bytes, uint32_t replies)
{
	asked.device.header = (mach_msg_header_t){
	    .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
	    .msgh_remote_port = to,
	    .msgh_local_port = replies,
	    .msgh_id = id};
	need(TRAP(TRAP_MACH_MSG, (unsigned long)&asked, MACH_SEND_MSG | MACH_RCV_MSG, bytes, sizeof(asked),
		  replies));
	return (uint32_t)asked.device.items[0].value;
}

/* The server's thread, of the same task: what it serves, its port, its stack. */
#define STACK_BYTES 16384
static const struct request *thread_serves;
static uint32_t thread_port;
static uint8_t thread_stack[STACK_BYTES] __attribute__((aligned(16)));

static _Noreturn void thread_begins(void)
{
	serve_port(thread_serves, thread_port);
}

static struct i386_thread_state state_of(void (*begins)(void), uint8_t *stack_end)
{
	/* As in a function that was called: its return address would be at the stack's pointer. */
	const unsigned long at = (unsigned long)begins, stack = (unsigned long)stack_end - sizeof(long);

#ifdef __x86_64__
	return (struct i386_thread_state){.rip = at, .ursp = stack};
#else
	return (struct i386_thread_state){.eip = at, .uesp = stack};
#endif
}

static void start_thread(const struct request *request, uint32_t self, uint32_t port, uint32_t replies)
{
	thread_serves = request;
	thread_port = port;
	need(ask(self, ID_THREAD_CREATE, HEADER_BYTES, replies));
	const uint32_t thread = (uint32_t)asked.device.items[1].value;
	asked.state.flavor = (struct item){ITEM_INTEGER, i386_THREAD_STATE};
	asked.state.type = DESCRIBED(MACH_MSG_TYPE_INTEGER_32, 32, sizeof(struct i386_thread_state) / 4);
	asked.state.registers = state_of(thread_begins, &thread_stack[STACK_BYTES]);
	need(ask(thread, ID_THREAD_SET_STATE, STATE_REQUEST_BYTES, replies));
	need(ask(thread, ID_THREAD_RESUME, HEADER_BYTES, replies));
}

/* A server in another task gets the right to receive, and this task keeps one to send. */
static void prepare_server(const struct request *request)
{
	const struct operation *operation = request->operation;
	const uint32_t self = need_self(), replies = TRAP(TRAP_REPLY_PORT, 0);
	uint32_t port = 0;

	need(TRAP(TRAP_PORT_ALLOCATE, self, RIGHT_RECEIVE, (unsigned long)&port));
	need(TRAP(TRAP_PORT_INSERT, self, port, port, MACH_MSG_TYPE_MAKE_SEND));
	if (operation->is_thread)
		start_thread(request, self, port, replies);
	else
		need(TRAP(TRAP_PORT_INSERT, SERVER_TASK, SERVED, port, MACH_MSG_TYPE_MOVE_RECEIVE));
	has_server = !operation->is_thread;
	mach_header = (mach_msg_header_t){
	    .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE) |
			 (operation->has_right ? MACH_MSGH_BITS_COMPLEX : 0),
	    .msgh_size = message_bytes(operation),
	    .msgh_remote_port = port,
	    .msgh_local_port = replies,
	    .msgh_id = ID_REQUEST};
	prepare_content(operation, self);
	give_message(&invocations[0], &mach_message, operation, MACH_SEND_MSG | MACH_RCV_MSG, replies);
}

void mach_prepare(const struct request *request)
{
	if (request->operation->has_server)
		prepare_server(request);
	else
		prepare_own_port(request->operation);
}

static _Noreturn void is_not(uint64_t found, uint64_t due)
{
	emit_refusal(OUTCOME_MISMATCH, CAUSE_ANSWER, found, due, due, 0);
}

static void check_right(void)
{
	if (mach_message.type != ITEM_SEND_RIGHT)
		is_not(mach_message.type, ITEM_SEND_RIGHT);
	if (mach_message.name != travels)
		is_not(mach_message.name, travels);
}

/* The first and the last word were marked once more, and no other one ever. */
static void check_words(unsigned last)
{
	marked++;
	for (unsigned i = 0; i <= last; i++) {
		const uint32_t due = word_at(i) + (i == 0 || i == last ? marked : 0);

		if (mach_message.words[i] != due)
			is_not(mach_message.words[i], due);
	}
}

/* Uses that nobody has counted are behind the last check; of words, all that were marked must have been so as often as the first. */
void mach_check_again(const struct operation *operation)
{
	if (operation->bytes)
		marked = mach_message.words[0] - word_at(0);
}

/* What was received must be what was sent, or the reply to it: from the port that was named, of the same size. */
void mach_check(const struct request *request)
{
	const struct operation *operation = request->operation;
	const uint32_t due = ID_REQUEST + (operation->has_server ? REPLY_IS : 0);
	const mach_msg_header_t *header = &mach_message.header;

	if (header->msgh_id != due || header->msgh_size != message_bytes(operation) ||
	    header->msgh_local_port != invocations[0].args[4] || header->msgh_remote_port)
		is_not(header->msgh_id, due);
	if (operation->has_right)
		check_right();
	else if (operation->bytes)
		check_words(operation->bytes / 4 - 1);
}

/*
 * As a server's loop does it that MIG has made: the reply goes to the right that came with the request, and the next request is received.
 * Made three times, so that no kind of message has the others' instructions.
 */
static inline __attribute__((always_inline)) uint32_t answer_all(const struct request *request,
								 uint32_t reply_bits, uint32_t *last)
{
	uint32_t wrong = 0;

	while (!wrong && served.header.msgh_id != ID_END) {
		const uint32_t reply = served.header.msgh_id + REPLY_IS;

		served.header.msgh_bits = reply_bits;
		served.header.msgh_local_port = 0;
		served.header.msgh_id = reply;
		if (last) {
			served.words[0]++;
			(*last)++;
		}
		request->serve();
		/* Nothing was received where nothing could be sent. */
		wrong = served.header.msgh_id == reply;
	}
	return wrong;
}

static uint32_t answer_by_kind(const struct request *request)
{
	const struct operation *operation = request->operation;

	if (operation->has_right)
		return answer_all(
		    request, MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0) | MACH_MSGH_BITS_COMPLEX, 0);
	if (operation->bytes)
		return answer_all(request, MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
				  &served.words[operation->bytes / 4 - 1]);
	return answer_all(request, MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0), 0);
}

/* Answers what comes to a port. Ends only with an error, or when it is told. */
static _Noreturn void serve_port(const struct request *request, uint32_t port)
{
	struct invocation *const own = &invocations[SERVERS_INVOCATION];
	const uint32_t bytes = message_bytes(request->operation);
	uint32_t wrong = TRAP(TRAP_MACH_MSG, (unsigned long)&served, MACH_RCV_MSG, 0, bytes, port);

	own->number = operation_number(request, 0);
	own->target = invocations[0].target;
	give_message(own, &served, request->operation, MACH_SEND_MSG | MACH_RCV_MSG, port);
	if (!wrong)
		wrong = answer_by_kind(request);
	for (;;)
		system_call(NR_EXIT_GROUP, (long)wrong, 0, 0, 0, 0, 0);
}

_Noreturn void mach_serve(const struct request *request)
{
	serve_port(request, SERVED);
}

/* Who waits for a message that nobody sends ends the program. A thread ends with its task. */
void mach_end_server(void)
{
	if (!has_server)
		return;
	mach_message.header = mach_header;
	mach_message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	mach_message.header.msgh_local_port = 0;
	mach_message.header.msgh_id = ID_END;
	has_server = 0;
	(void)TRAP(TRAP_MACH_MSG, (unsigned long)&mach_message, MACH_SEND_MSG, HEADER_BYTES, 0, 0);
}

/* The beginning of mapped_time_value_t. */
struct mapped_time {
	int32_t seconds, microseconds, check_seconds;
};

static const volatile struct mapped_time *mapped;

/* As GNU Mach's readers do: the kernel writes the second that is checked first, and the other last. */
static long read_mapped_time(long *to)
{
	int32_t seconds, microseconds;

	do {
		seconds = mapped->seconds;
		__asm__ volatile("" : : : "memory"); /* x86 keeps loads in order; the compiler must too */
		microseconds = mapped->microseconds;
		__asm__ volatile("" : : : "memory");
	} while (seconds != mapped->check_seconds);
	to[0] = seconds;
	to[1] = microseconds;
	return 0;
}

static uint32_t open_device(const char *name, uint32_t replies)
{
	device_open_request(&asked.device, name);
	const uint32_t code = ask(DEVICE_MASTER, ID_DEVICE_OPEN, sizeof(asked.device.open), replies);
	if (code == D_NO_SUCH_DEVICE)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_DEVICE, 0, 0, 0, 0);
	need(code);
	return (uint32_t)asked.device.items[1].value;
}

static uint32_t pager_of(uint32_t device, uint32_t protection, uint32_t replies)
{
	device_map_request(&asked.device, protection, PAGE);
	need(ask(device, ID_DEVICE_MAP, sizeof(asked.device.map), replies));
	return (uint32_t)asked.device.items[1].value;
}

/* Where a page of the device is. */
static unsigned long map_device(const char *name, uint32_t protection)
{
	const uint32_t self = need_self(), replies = TRAP(TRAP_REPLY_PORT, 0);
	const uint32_t pager = pager_of(open_device(name, replies), protection, replies);
	unsigned long at = 0;

	need(TRAP(TRAP_VM_MAP, self, (unsigned long)&at, PAGE, 0, 1, pager, 0, 0, protection, protection, 1));
	return at;
}

unsigned long mach_time_prepare(void)
{
	mapped = (const volatile struct mapped_time *)map_device("time", PROTECT_READ);
	return (unsigned long)read_mapped_time;
}

/* stubs.S */
extern const char mach_print_gate[], mach_msg_gate[], mach_print_page[], mach_msg_page[];

/* Where the stubs of the page go on (stub.inc). */
extern unsigned long mach_entry_call;
unsigned long mach_entry_call;

unsigned long mach_gate_stub(const struct request *request)
{
	need_self();
	return (unsigned long)(request->operation->id == OPERATION_MACH_PRINT ? mach_print_gate
									      : mach_msg_gate);
}

#ifdef __i386__
extern const char mach_print_sysenter[], mach_msg_sysenter[];

unsigned long mach_sysenter_stub(const struct request *request)
{
	need_self();
	return (unsigned long)(request->operation->id == OPERATION_MACH_PRINT ? mach_print_sysenter
									      : mach_msg_sysenter);
}
#endif

/* Only a first task has the device master's port when it begins: the server is given it. */
unsigned long mach_page_stub(const struct request *request)
{
	need_self();
	if (request->operation->has_server && !request->operation->is_thread && !request->serves)
		need(TRAP(TRAP_PORT_INSERT, SERVER_TASK, DEVICE_MASTER, DEVICE_MASTER,
			  MACH_MSG_TYPE_COPY_SEND));
	const void *page = (const void *)map_device("entry", PROTECT_READ | PROTECT_EXECUTE);
	mach_entry_call = image_function(page, "entry_call", "ENTRY_1");
	if (!mach_entry_call)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	return (unsigned long)(request->operation->id == OPERATION_MACH_PRINT ? mach_print_page
									      : mach_msg_page);
}

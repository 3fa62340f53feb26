/*
 * What traps of GNU Mach are given, and the server that answers a message (docs/mach.md). The lab alone has them; on Linux a negative
 * number is no call. What it knows of Mach's interface, its headers have: mach/message.h, device/device_types.h, mach/time_value.h.
 */
#include "probe.h"

#include <stddef.h>

#define ENOSYS 38

/* Names that a task has when it begins. */
#define DEVICE_MASTER 2u
#define SERVER_TASK   3u
/* What the server calls the port that it receives from; the client gives it the right. */
#define SERVED	      100u

#define TRAP_MACH_MSG	    25
#define TRAP_REPLY_PORT	    26
#define TRAP_TASK_SELF	    28
#define TRAP_VM_MAP	    64
#define TRAP_PORT_ALLOCATE  72
#define TRAP_PORT_INSERT    74
#define RIGHT_RECEIVE	    1
#define MOVE_RECEIVE	    16u
#define MOVE_SEND	    17u /* also how a send right is described that was received */
#define MOVE_SEND_ONCE	    18u
#define COPY_SEND	    19u
#define MAKE_SEND	    20u
#define MAKE_SEND_ONCE	    21u
#define BITS(remote, local) ((remote) | (local) << 8)
#define COMPLEX		    (1u << 31) /* there are rights behind the header */
#define SEND_MSG	    1u
#define RCV_MSG		    2u

/* Ids of messages: a reply's is so much more than its request's. */
#define ID_REQUEST 4711u
#define ID_END	   4712u
#define REPLY_IS   100u

struct header {
	uint32_t bits, size;
	unsigned long remote, local; /* names, in words */
	uint32_t sequence, id;
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "mach_msg_header_t");

/* How items of a message are described. */
#ifdef __x86_64__
typedef uint64_t item;
#define ITEM(type, bits, number) ((item)(type) | (item)(bits) << 8 | (item)1 << 29 | (item)(number) << 32)
#else
typedef uint32_t item;
#define ITEM(type, bits, number) ((item)(type) | (item)(bits) << 8 | (item)(number) << 16 | (item)1 << 28)
#endif
#define ITEM_INTEGER_32 2
#define ITEM_WORD	(sizeof(item) == 8 ? 11 : 2)

#define MOST_BYTES 4096u
#define WORDS	   (MOST_BYTES / 4)

/* What stands behind the header, if anything: one item. */
struct message {
	struct header header;
	item type;
	union {
		uint32_t words[WORDS];
		unsigned long name;
	};
};
_Static_assert(offsetof(struct message, words) == HEADER_BYTES + sizeof(item), "as on the wire");

/* What WRITE_HEADER copies, and where to. */
struct header mach_header;
struct message mach_message;

static int has_server;

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
static void give_message(const struct operation *operation, uint32_t option, uint32_t from)
{
	const uint32_t bytes = message_bytes(operation);
	const unsigned long arguments[INVOCATION_ARGUMENTS] = {
	    (unsigned long)&mach_message, option, bytes, bytes, from, 0, 0};

	for (unsigned i = 0; i < INVOCATION_ARGUMENTS; i++)
		invocations[0].args[i] = arguments[i];
}

static void prepare_own_port(const struct operation *operation)
{
	need_self();
	const uint32_t port = TRAP(TRAP_REPLY_PORT, 0);

	mach_header = (struct header){
	    .bits = BITS(MAKE_SEND, 0), .size = HEADER_BYTES, .remote = port, .id = ID_REQUEST};
	give_message(operation, SEND_MSG | RCV_MSG, port);
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
		need(TRAP(TRAP_PORT_INSERT, self, travels, travels, MAKE_SEND));
		mach_message.type = ITEM(MOVE_SEND, 8 * sizeof(mach_message.name), 1);
		mach_message.name = travels;
	} else {
		mach_message.type = ITEM(ITEM_INTEGER_32, 32, operation->bytes / 4);
		for (unsigned i = 0; i < operation->bytes / 4; i++)
			mach_message.words[i] = word_at(i);
	}
}

/* The server gets the right to receive, and this task keeps one to send. */
static void prepare_server(const struct operation *operation)
{
	const uint32_t self = need_self();
	uint32_t port = 0;

	need(TRAP(TRAP_PORT_ALLOCATE, self, RIGHT_RECEIVE, (unsigned long)&port));
	need(TRAP(TRAP_PORT_INSERT, self, port, port, MAKE_SEND));
	need(TRAP(TRAP_PORT_INSERT, SERVER_TASK, SERVED, port, MOVE_RECEIVE));
	has_server = 1;
	const uint32_t replies = TRAP(TRAP_REPLY_PORT, 0);
	mach_header =
	    (struct header){.bits = BITS(COPY_SEND, MAKE_SEND_ONCE) | (operation->has_right ? COMPLEX : 0),
			    .size = message_bytes(operation),
			    .remote = port,
			    .local = replies,
			    .id = ID_REQUEST};
	prepare_content(operation, self);
	give_message(operation, SEND_MSG | RCV_MSG, replies);
}

void mach_prepare(const struct request *request)
{
	if (request->operation->has_server)
		prepare_server(request->operation);
	else
		prepare_own_port(request->operation);
}

static _Noreturn void is_not(uint64_t found, uint64_t due)
{
	emit_refusal(OUTCOME_MISMATCH, CAUSE_ANSWER, found, due, due, 0);
}

static void check_right(void)
{
	if (mach_message.type != ITEM(MOVE_SEND, 8 * sizeof(mach_message.name), 1))
		is_not(mach_message.type, ITEM(MOVE_SEND, 8 * sizeof(mach_message.name), 1));
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
	const struct header *header = &mach_message.header;

	if (header->id != due || header->size != message_bytes(operation) ||
	    header->local != invocations[0].args[4] || header->remote)
		is_not(header->id, due);
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

	while (!wrong && mach_message.header.id != ID_END) {
		const uint32_t reply = mach_message.header.id + REPLY_IS;

		mach_message.header.bits = reply_bits;
		mach_message.header.local = 0;
		mach_message.header.id = reply;
		if (last) {
			mach_message.words[0]++;
			(*last)++;
		}
		request->routines->loop(0, 1);
		/* Nothing was received where nothing could be sent. */
		wrong = mach_message.header.id == reply;
	}
	return wrong;
}

static uint32_t answer_by_kind(const struct request *request)
{
	const struct operation *operation = request->operation;

	if (operation->has_right)
		return answer_all(request, BITS(MOVE_SEND_ONCE, 0) | COMPLEX, 0);
	if (operation->bytes)
		return answer_all(request, BITS(MOVE_SEND_ONCE, 0),
				  &mach_message.words[operation->bytes / 4 - 1]);
	return answer_all(request, BITS(MOVE_SEND_ONCE, 0), 0);
}

_Noreturn void mach_serve(const struct request *request)
{
	const uint32_t bytes = message_bytes(request->operation);
	uint32_t wrong = TRAP(TRAP_MACH_MSG, (unsigned long)&mach_message, RCV_MSG, 0, bytes, SERVED);

	invocations[0].number = request->operation->number_x86_64;
	give_message(request->operation, SEND_MSG | RCV_MSG, SERVED);
	if (!wrong)
		wrong = answer_by_kind(request);
	for (;;)
		system_call(NR_EXIT_GROUP, (long)wrong, 0, 0, 0, 0, 0);
}

/* Who waits for a message that nobody sends ends the program. */
void mach_end_server(void)
{
	if (!has_server)
		return;
	mach_message.header = mach_header;
	mach_message.header.bits = BITS(COPY_SEND, 0);
	mach_message.header.local = 0;
	mach_message.header.id = ID_END;
	has_server = 0;
	(void)TRAP(TRAP_MACH_MSG, (unsigned long)&mach_message, SEND_MSG, HEADER_BYTES, 0, 0);
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

#define DEVICE_NAME    128
#define NO_SUCH_DEVICE 2502 /* D_NO_SUCH_DEVICE */

struct word_item {
	item type;
	unsigned long value;
};

/* A request to the kernel's server, and its answer: the code, and behind it a name. */
static union {
	struct header header;
	struct {
		struct header header;
		struct word_item mode;
#ifdef __x86_64__
		item name_type;
#else
		item name_type[3]; /* a short description has no room for so many bits */
#endif
		char name[DEVICE_NAME];
	} open;
	struct {
		struct header header;
		struct word_item protection, offset, bytes, no_cache;
	} map;
	struct {
		struct header header;
		struct word_item code, name;
	} answer;
} asked;

/* The answer's code. */
static uint32_t ask(uint32_t to, uint32_t id, unsigned long bytes, uint32_t replies)
{
	asked.header = (struct header){
	    .bits = BITS(COPY_SEND, MAKE_SEND_ONCE), .remote = to, .local = replies, .id = id};
	need(TRAP(TRAP_MACH_MSG, (unsigned long)&asked, SEND_MSG | RCV_MSG, bytes, sizeof(asked), replies));
	return (uint32_t)asked.answer.code.value;
}

static uint32_t open_device(const char *name, uint32_t replies)
{
	asked.open.mode = (struct word_item){ITEM(ITEM_INTEGER_32, 32, 1), 0};
#ifdef __x86_64__
	asked.open.name_type = 0x16004000cul; /* a string of 128 bytes */
#else
	asked.open.name_type[0] = 0x30000000;
	asked.open.name_type[1] = 0x0400000c;
	asked.open.name_type[2] = 1;
#endif
	for (unsigned i = 0; name[i]; i++)
		asked.open.name[i] = name[i];
	const uint32_t code = ask(DEVICE_MASTER, 2800, sizeof(asked.open), replies);
	if (code == NO_SUCH_DEVICE)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_DEVICE, 0, 0, 0, 0);
	need(code);
	return (uint32_t)asked.answer.name.value;
}

static uint32_t pager_of(uint32_t device, uint32_t protection, uint32_t replies)
{
	asked.map.protection = (struct word_item){ITEM(ITEM_INTEGER_32, 32, 1), protection};
	asked.map.offset = (struct word_item){ITEM(ITEM_WORD, 8 * sizeof(item), 1), 0};
	asked.map.bytes = (struct word_item){ITEM(ITEM_WORD, 8 * sizeof(item), 1), PAGE};
	asked.map.no_cache = (struct word_item){ITEM(ITEM_INTEGER_32, 32, 1), 0};
	need(ask(device, 2809, sizeof(asked.map), replies));
	return (uint32_t)asked.answer.name.value;
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
extern unsigned long mach_entry_call;

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
	if (request->operation->has_server && !request->serves)
		need(TRAP(TRAP_PORT_INSERT, SERVER_TASK, DEVICE_MASTER, DEVICE_MASTER, COPY_SEND));
	const void *page = (const void *)map_device("entry", PROTECT_READ | PROTECT_EXECUTE);
	mach_entry_call = image_function(page, "entry_call", "ENTRY_1");
	if (!mach_entry_call)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	return (unsigned long)(request->operation->id == OPERATION_MACH_PRINT ? mach_print_page
									      : mach_msg_page);
}

/* Of the variant `entry`: the page of the device `entry` is mapped, and traps are made there. Whatever fails, they are made as before. */
#include "image.h"
#include "mach_traps.h"
#include "message.h"

#define READ_AND_EXECUTE 5u
#define PAGE		 4096u
#define INHERIT_COPY	 1u
#define FAILURE		 5u /* KERN_FAILURE */
/* An answer comes from the kernel, at once; or from whoever took its place at the device port, or from nobody. */
#define MILLISECONDS	 5000u

typedef void call(void);
extern call mach_stub_gate; /* entry64.inc, entry32.inc */
extern call *mach_stub_call;
call *mach_stub_call = mach_stub_gate;

/* The result of a request: of mach_msg, or the answer's. */
static uint32_t ask(union message *message, uint32_t to, uint32_t id, uint32_t bytes, uint32_t answers)
{
	message->header.bits = BITS(COPY_SEND, MAKE_SEND_ONCE);
	message->header.remote = to;
	message->header.local = answers;
	message->header.id = id;
	const uint32_t result = mach_msg_trap(message, SEND | RECEIVE | SEND_TIMEOUT | RECEIVE_TIMEOUT, bytes,
					      sizeof(*message), answers, MILLISECONDS, 0);
	if (result)
		return result;
	if (message->header.id != id + REPLY_IS || message->items[0].type != INTEGER)
		return FAILURE;
	return (uint32_t)message->items[0].value;
}

/* The right of an answer; 0 when it has none. */
static uint32_t port_of(const union message *message)
{
	const uint32_t bytes = sizeof(struct header) + 2 * sizeof(struct item);

	return message->header.size == bytes && message->items[1].type == SEND_RIGHT
		   ? (uint32_t)message->items[1].value
		   : 0;
}

static uint32_t open(uint32_t master, uint32_t answers, uint32_t *device)
{
	static const char name[] = "entry";
	union message message = {.open = {.mode = {.type = INTEGER}, .type = DESCRIBED_NAME}};

	for (unsigned i = 0; i < sizeof(name); i++)
		message.open.name[i] = name[i];
	const uint32_t result = ask(&message, master, DEVICE_OPEN, sizeof(message.open), answers);
	*device = result ? 0 : port_of(&message);
	return result;
}

static uint32_t map(uint32_t device, uint32_t answers, uint32_t *pager)
{
	union message message = {.items = {
				     {INTEGER, READ_AND_EXECUTE},
				     {WORD, 0},
				     {WORD, PAGE},
				     {INTEGER, 0},
				 }};
	const uint32_t bytes = sizeof(struct header) + sizeof(message.items);
	const uint32_t result = ask(&message, device, DEVICE_MAP, bytes, answers);

	*pager = result ? 0 : port_of(&message);
	return result;
}

/* Without an answer: the port of answers itself is given back so. */
static void tell(uint32_t to, uint32_t id, struct item item, uint32_t bytes)
{
	union message message = {.header = {.bits = BITS(COPY_SEND, 0), .remote = to, .id = id}};

	message.items[0] = item;
	mach_msg_trap(&message, SEND, bytes, 0, 0, 0, 0);
}

/* The page, from the device to a function in it. */
static uint32_t find(uint32_t task, uint32_t device, uint32_t answers)
{
	uint32_t pager;
	uintptr_t at = 0;
	uint32_t result = map(device, answers, &pager);

	if (result)
		return result;
	result = syscall_vm_map(task, &at, PAGE, 0, 1, pager, 0, 0, READ_AND_EXECUTE, READ_AND_EXECUTE,
				INHERIT_COPY);
	syscall_mach_port_deallocate(task, pager);
	if (result)
		return result;
	call *const found = (call *)image_find((const void *)at, PAGE, "entry_call");
	if (!found) {
		syscall_vm_deallocate(task, at, PAGE);
		return FAILURE;
	}
	mach_stub_call = found;
	return 0;
}

__attribute__((visibility("default"))) uint32_t mach_stub_begin(uint32_t device_master)
{
	if (mach_stub_call != mach_stub_gate)
		return 0; /* as it is */
	const uint32_t task = mach_task_self(), answers = mach_reply_port();
	uint32_t device;
	uint32_t result = open(device_master, answers, &device);

	if (!result) {
		result = find(task, device, answers);
		/* The mapping stays. */
		tell(device, DEVICE_CLOSE, (struct item){0}, sizeof(struct header));
		syscall_mach_port_deallocate(task, device);
	}
	tell(task, PORT_DESTROY, (struct item){PORT_NAME, answers},
	     sizeof(struct header) + sizeof(struct item));
	syscall_mach_port_deallocate(task, task);
	return result;
}

__attribute__((visibility("default"))) const char *mach_stub_entry(void)
{
	return mach_stub_call == mach_stub_gate ? "gate" : "page";
}

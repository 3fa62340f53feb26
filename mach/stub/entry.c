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
static uint32_t ask(union device_message *message, uint32_t to, uint32_t id, uint32_t bytes, uint32_t answers)
{
	message->header = (mach_msg_header_t){
	    .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
	    .msgh_remote_port = to,
	    .msgh_local_port = answers,
	    .msgh_id = id,
	};
	const uint32_t result =
	    mach_msg_trap(message, MACH_SEND_MSG | MACH_RCV_MSG | MACH_SEND_TIMEOUT | MACH_RCV_TIMEOUT, bytes,
			  sizeof(*message), answers, MILLISECONDS, 0);
	if (result)
		return result;
	if (message->header.msgh_id != id + REPLY_IS || message->items[0].type != ITEM_INTEGER)
		return FAILURE;
	return (uint32_t)message->items[0].value;
}

/* The right of an answer; 0 when it has none. */
static uint32_t port_of(const union device_message *message)
{
	const uint32_t bytes = offsetof(union device_message, items[2]);

	return message->header.msgh_size == bytes && message->items[1].type == ITEM_SEND_RIGHT
		   ? (uint32_t)message->items[1].value
		   : 0;
}

static uint32_t open(uint32_t master, uint32_t answers, uint32_t *device)
{
	union device_message message;

	device_open_request(&message, "entry");
	const uint32_t result = ask(&message, master, ID_DEVICE_OPEN, sizeof(message.open), answers);
	*device = result ? 0 : port_of(&message);
	return result;
}

static uint32_t map(uint32_t device, uint32_t answers, uint32_t *pager)
{
	union device_message message;

	device_map_request(&message, READ_AND_EXECUTE, PAGE);
	const uint32_t result = ask(&message, device, ID_DEVICE_MAP, sizeof(message.map), answers);
	*pager = result ? 0 : port_of(&message);
	return result;
}

/* Without an answer: the port of answers itself is given back so. */
static void tell(uint32_t to, uint32_t id, struct item item, uint32_t bytes)
{
	union device_message message;

	message.header = (mach_msg_header_t){
	    .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0), .msgh_remote_port = to, .msgh_id = id};
	message.items[0] = item;
	mach_msg_trap(&message, MACH_SEND_MSG, bytes, 0, 0, 0, 0);
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
		tell(device, ID_DEVICE_CLOSE, (struct item){0}, sizeof(mach_msg_header_t));
		syscall_mach_port_deallocate(task, device);
	}
	tell(task, ID_MACH_PORT_DESTROY, (struct item){ITEM_PORT_NAME, answers},
	     offsetof(union device_message, items[1]));
	syscall_mach_port_deallocate(task, task);
	return result;
}

__attribute__((visibility("default"))) const char *mach_stub_entry(void)
{
	return mach_stub_call == mach_stub_gate ? "gate" : "page";
}

/*
 * A program as one for GNU Mach is written: its headers, its traps, and what MIG makes of its interfaces; nothing of this project's. Prints a
 * line for each thing that is not as these say, and how many were looked at.
 */
#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/mig_errors.h>
#include <mach/mig_support.h>
#include <mach/notify.h>
#include <mach/time_value.h>

#include "device_user.h"
#include "mach_host_user.h"
#include "mach_port_user.h"
#include "mach_user.h"

/* As in a boot script: the ports that stand for the machine are the first task's first two names. */
#define HOST_PRIVATE  1
#define DEVICE_MASTER 2

mach_msg_return_t mach_msg_trap(mach_msg_header_t *header, mach_msg_option_t option,
				mach_msg_size_t send_size, mach_msg_size_t receive_size,
				mach_port_name_t receive_name, mach_msg_timeout_t timeout,
				mach_port_name_t notify);
mach_port_t mach_reply_port(void);
mach_port_t mach_task_self(void);
mach_port_t mach_thread_self(void);
mach_port_t mach_host_self(void);
void mach_print(const char *text);
kern_return_t syscall_mach_port_allocate(mach_port_t task, mach_port_right_t right, mach_port_name_t *name);
kern_return_t syscall_mach_port_insert_right(mach_port_t task, mach_port_name_t name, mach_port_t right,
					     mach_msg_type_name_t type);
kern_return_t syscall_vm_allocate(mach_port_t task, vm_offset_t *address, vm_size_t bytes,
				  boolean_t anywhere);

/* --- what MIG's code calls --- */

static mach_port_t reply_port;

mach_port_t mig_get_reply_port(void)
{
	if (!reply_port)
		reply_port = mach_reply_port();
	return reply_port;
}

void mig_put_reply_port(mach_port_t port)
{
	(void)port;
}

void mig_dealloc_reply_port(mach_port_t port)
{
	(void)port;
	reply_port = 0;
}

mach_msg_return_t mach_msg(mach_msg_header_t *header, mach_msg_option_t option, mach_msg_size_t send_size,
			   mach_msg_size_t receive_size, mach_port_name_t receive_name,
			   mach_msg_timeout_t timeout, mach_port_name_t notify)
{
	return mach_msg_trap(header, option, send_size, receive_size, receive_name, timeout, notify);
}

unsigned long mig_strncpy(char *to, const char *from, unsigned long bytes)
{
	unsigned long length = 0;

	while (length + 1 < bytes && from[length]) {
		to[length] = from[length];
		length++;
	}
	to[length] = 0;
	return length;
}

void *memcpy(void *to, const void *from, unsigned long bytes)
{
	for (unsigned long i = 0; i < bytes; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

/* --- what is looked at --- */

static unsigned looked_at;

static void print_number(const char *what, unsigned long number)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = 0;
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	mach_print(what);
	mach_print(" ");
	mach_print(at);
	mach_print("\n");
}

static void is(const char *what, unsigned long found, unsigned long wanted)
{
	looked_at++;
	if (found == wanted)
		return;
	mach_print("not so: ");
	print_number(what, found);
}

static void names_and_rights(mach_port_t self)
{
	mach_port_name_t port = 0, dead = 0;
	mach_port_type_t type = 0;
	mach_port_urefs_t references = 0;

	is("mach_port_allocate", mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port), KERN_SUCCESS);
	is("insert_right", mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND), KERN_SUCCESS);
	is("mod_refs", mach_port_mod_refs(self, port, MACH_PORT_RIGHT_SEND, 2), KERN_SUCCESS);
	is("get_refs", mach_port_get_refs(self, port, MACH_PORT_RIGHT_SEND, &references), KERN_SUCCESS);
	is("references", references, 3);
	is("type", mach_port_type(self, port, &type), KERN_SUCCESS);
	is("a type", type, MACH_PORT_TYPE_SEND_RECEIVE);
	is("deallocate", mach_port_deallocate(self, port), KERN_SUCCESS);
	is("destroy", mach_port_destroy(self, port), KERN_SUCCESS);
	is("type of what is gone", mach_port_type(self, port, &type), KERN_INVALID_NAME);
	is("a dead name", mach_port_allocate(self, MACH_PORT_RIGHT_DEAD_NAME, &dead), KERN_SUCCESS);
	is("a chosen name", mach_port_allocate_name(self, MACH_PORT_RIGHT_RECEIVE, 0x12345), KERN_SUCCESS);
	is("the same again", mach_port_allocate_name(self, MACH_PORT_RIGHT_RECEIVE, 0x12345),
	   KERN_NAME_EXISTS);
	is("by a trap", syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port), KERN_SUCCESS);
	is("a right by a trap", syscall_mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND),
	   KERN_SUCCESS);
}

struct simple {
	mach_msg_header_t header;
	mach_msg_type_t type;
	unsigned int numbers[4];
};

struct complex {
	mach_msg_header_t header;
	mach_msg_type_t type;
	mach_port_t port;
	char pad[sizeof(mach_msg_type_t) - sizeof(mach_port_t)];
};

static mach_port_name_t port_with_send_right(mach_port_t self)
{
	mach_port_name_t port = 0;

	is("a port", mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port), KERN_SUCCESS);
	is("its right", mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND), KERN_SUCCESS);
	return port;
}

static void numbers_in_a_message(mach_port_t self)
{
	const mach_port_name_t port = port_with_send_right(self);
	struct simple message = {
	    .header = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
		       .msgh_size = sizeof(message),
		       .msgh_remote_port = port,
		       .msgh_id = 4711},
	    .type = {.msgt_name = MACH_MSG_TYPE_INTEGER_32,
		     .msgt_size = 32,
		     .msgt_number = 4,
		     .msgt_inline = TRUE},
	    .numbers = {1, 2, 3, 0x80000000},
	};

	is("send", mach_msg(&message.header, MACH_SEND_MSG, sizeof(message), 0, 0, 0, 0), MACH_MSG_SUCCESS);
	message = (struct simple){};
	is("receive, too small",
	   mach_msg(&message.header, MACH_RCV_MSG | MACH_RCV_LARGE, 0, sizeof(message) - 4, port, 0, 0),
	   MACH_RCV_TOO_LARGE);
	is("how large it is", message.header.msgh_size, sizeof(message));
	is("receive", mach_msg(&message.header, MACH_RCV_MSG, 0, sizeof(message), port, 0, 0),
	   MACH_MSG_SUCCESS);
	is("id", (unsigned long)message.header.msgh_id, 4711);
	is("size", message.header.msgh_size, sizeof(message));
	is("local port", message.header.msgh_local_port, port);
	is("the last number", message.numbers[3], 0x80000000);
	is("nothing more",
	   mach_msg(&message.header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(message), port, 1, 0),
	   MACH_RCV_TIMED_OUT);
	message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	message.header.msgh_remote_port = 0x7777;
	is("a reply port of no type", mach_msg(&message.header, MACH_SEND_MSG, sizeof(message), 0, 0, 0, 0),
	   MACH_SEND_INVALID_HEADER);
	message.header.msgh_local_port = MACH_PORT_NULL;
	is("to nobody", mach_msg(&message.header, MACH_SEND_MSG, sizeof(message), 0, 0, 0, 0),
	   MACH_SEND_INVALID_DEST);
}

/* A receive right goes to oneself, and what was sent to its port before comes with it. */
static void right_in_a_message(mach_port_t self)
{
	const mach_port_name_t port = port_with_send_right(self), moved = port_with_send_right(self);
	mach_port_status_t status = {};
	struct complex message = {
	    .header = {.msgh_bits = MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
		       .msgh_size = sizeof(message),
		       .msgh_remote_port = port},
	    .type = {.msgt_name = MACH_MSG_TYPE_MOVE_RECEIVE,
		     .msgt_size = 8 * (sizeof(mach_msg_type_t)),
		     .msgt_number = 1,
		     .msgt_inline = TRUE},
	    .port = moved,
	};
	mach_msg_header_t plain = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
				   .msgh_size = sizeof(plain),
				   .msgh_remote_port = moved,
				   .msgh_id = 42};

	is("send to it", mach_msg(&plain, MACH_SEND_MSG, sizeof(plain), 0, 0, 0, 0), MACH_MSG_SUCCESS);
	is("send the right", mach_msg(&message.header, MACH_SEND_MSG, sizeof(message), 0, 0, 0, 0),
	   MACH_MSG_SUCCESS);
	is("it is gone", mach_port_get_receive_status(self, moved, &status), KERN_INVALID_RIGHT);
	is("receive the right", mach_msg(&message.header, MACH_RCV_MSG, 0, sizeof(message), port, 0, 0),
	   MACH_MSG_SUCCESS);
	is("its name", message.port, moved);
	is("its type", message.type.msgt_name, MACH_MSG_TYPE_PORT_RECEIVE);
	is("status", mach_port_get_receive_status(self, moved, &status), KERN_SUCCESS);
	is("what waits", status.mps_msgcount, 1);
	is("its limit", mach_port_set_qlimit(self, moved, 3), KERN_SUCCESS);
	is("receive from it", mach_msg(&plain, MACH_RCV_MSG, 0, sizeof(plain), moved, 0, 0),
	   MACH_MSG_SUCCESS);
	is("what was sent", (unsigned long)plain.msgh_id, 42);
}

static void nobody_sends_any_more(mach_port_t self)
{
	const mach_port_name_t port = port_with_send_right(self), notify = port_with_send_right(self);
	mach_port_t previous = 1;
	mach_no_senders_notification_t told = {};

	is("a request",
	   mach_port_request_notification(self, port, MACH_NOTIFY_NO_SENDERS, 1, notify,
					  MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
	   KERN_SUCCESS);
	is("none before", previous, MACH_PORT_NULL);
	is("the last right", mach_port_deallocate(self, port), KERN_SUCCESS);
	is("told",
	   mach_msg(&told.not_header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(told), notify, 1000, 0),
	   MACH_MSG_SUCCESS);
	is("of what", (unsigned long)told.not_header.msgh_id, MACH_NOTIFY_NO_SENDERS);
	is("made so often", told.not_count, 1);
}

static void memory(mach_port_t self)
{
	vm_address_t address = 0;
	vm_offset_t other = 0;

	is("vm_allocate", vm_allocate(self, &address, 8192, TRUE), KERN_SUCCESS);
	*(volatile char *)(address + 8191) = 7;
	is("a byte", (unsigned long)*(volatile char *)(address + 8191), 7);
	is("vm_deallocate", vm_deallocate(self, address, 8192), KERN_SUCCESS);
	is("by a trap", syscall_vm_allocate(self, &other, 4096, TRUE), KERN_SUCCESS);
	is("nowhere", vm_allocate(self, &other, 4096, FALSE), KERN_NO_SPACE);
	is("nobody's", vm_allocate(0x7777, &address, 4096, TRUE), MACH_SEND_INVALID_DEST);
}

/* The time as readers take it: until the second is the same on both sides of the fraction. */
static void read_time(const volatile struct mapped_time_value *mapped, time_value_t *time)
{
	do {
		time->seconds = mapped->seconds;
		time->microseconds = mapped->microseconds;
	} while (time->seconds != mapped->check_seconds);
}

static void time(mach_port_t self)
{
	mach_port_t device = 0, pager = 0;
	vm_address_t page = 0;
	time_value_t told = {}, mapped = {};
	time_value64_t told_64 = {};

	is("device_open", device_open(DEVICE_MASTER, D_READ, "time", &device), KERN_SUCCESS);
	is("a device that is not there", device_open(DEVICE_MASTER, D_READ, "tape", &pager),
	   D_NO_SUCH_DEVICE);
	is("device_map", device_map(device, VM_PROT_READ, 0, sizeof(struct mapped_time_value), &pager, 0),
	   KERN_SUCCESS);
	is("vm_map",
	   vm_map(self, &page, 4096, 0, TRUE, pager, 0, FALSE, VM_PROT_READ, VM_PROT_READ, VM_INHERIT_NONE),
	   KERN_SUCCESS);
	is("host_get_time", host_get_time(mach_host_self(), &told), KERN_SUCCESS);
	is("host_get_time64", host_get_time64(mach_host_self(), &told_64), KERN_SUCCESS);
	read_time((const struct mapped_time_value *)page, &mapped);
	is("the mapped second", mapped.seconds - told.seconds <= 2, 1);
	is("the wide second", (unsigned long)(told_64.seconds - told.seconds) <= 2, 1);
	is("device_close", device_close(device), KERN_SUCCESS);
}

void run(void)
{
	const mach_port_t self = mach_task_self();

	names_and_rights(self);
	numbers_in_a_message(self);
	right_in_a_message(self);
	nobody_sends_any_more(self);
	memory(self);
	time(self);
	print_number("looked at", looked_at);
	host_reboot(HOST_PRIVATE, 0);
	task_terminate(self);
}

/*
 * The numbers of GNU Mach's interface (1.8+git20261028), as its programs have them: facts of mach/message.h, mach/port.h,
 * mach/kern_return.h, mach/thread_status.h, mach/notify.h, mach/mig_errors.h, device/device_types.h. docs/mach.md says what the lab has
 * of it.
 */
#pragma once

#define NAME_NULL 0u
#define NAME_DEAD 0xffffffffu

/* What a name is, mach_port_right_t; and the bits of mach_port_type_t. */
#define RIGHT_SEND	0
#define RIGHT_RECEIVE	1
#define RIGHT_SEND_ONCE 2
#define RIGHT_PORT_SET	3
#define RIGHT_DEAD_NAME 4
#define RIGHTS		5
#define TYPE_OF(right)	(1u << ((right) + 16))
#define TYPE_SEND	TYPE_OF(RIGHT_SEND)
#define TYPE_RECEIVE	TYPE_OF(RIGHT_RECEIVE)
#define TYPE_SEND_ONCE	TYPE_OF(RIGHT_SEND_ONCE)
#define TYPE_PORT_SET	TYPE_OF(RIGHT_PORT_SET)
#define TYPE_DEAD_NAME	TYPE_OF(RIGHT_DEAD_NAME)

/* User references of a send right, and of a dead name. */
#define MOST_SEND_REFERENCES 65534u
#define MOST_DEAD_REFERENCES 65535u

#define QUEUE_DEFAULT 5
#define QUEUE_MOST    16

/* A bit of mach_port_type_t: somebody is to be told when the port dies. */
#define TYPE_REQUEST 0x80000000u

/* Ports that a task has by number. */
#define SPECIAL_KERNEL	  1u
#define SPECIAL_EXCEPTION 3u
#define SPECIAL_BOOTSTRAP 4u

/* Types of items in messages. What is received has one of the first three. */
#define ITEM_BOOLEAN	    0
#define ITEM_INTEGER_32	    2
#define ITEM_INTEGER_64	    11
#define ITEM_STRING	    12
#define ITEM_PORT_NAME	    15
#define ITEM_MOVE_RECEIVE   16
#define ITEM_MOVE_SEND	    17
#define ITEM_MOVE_SEND_ONCE 18
#define ITEM_COPY_SEND	    19
#define ITEM_MAKE_SEND	    20
#define ITEM_MAKE_SEND_ONCE 21
#define ITEM_PORT_RECEIVE   ITEM_MOVE_RECEIVE
#define ITEM_PORT_SEND	    ITEM_MOVE_SEND
#define ITEM_PORT_SEND_ONCE ITEM_MOVE_SEND_ONCE

/* Bits of a header. */
#define BITS_REMOTE	       0x000000ffu
#define BITS_LOCAL	       0x0000ff00u
#define BITS_CIRCULAR	       0x40000000u
#define BITS_COMPLEX	       0x80000000u
#define BITS_OF(remote, local) ((uint32_t)(remote) | (uint32_t)(local) << 8)

/* Options of mach_msg. */
#define OPTION_SEND	    0x0001u
#define OPTION_RECEIVE	    0x0002u
#define OPTION_SEND_TIMEOUT 0x0010u
#define OPTION_SEND_NOTIFY  0x0020u
#define OPTION_SEND_CANCEL  0x0080u
#define OPTION_RCV_TIMEOUT  0x0100u
#define OPTION_RCV_NOTIFY   0x0200u
#define OPTION_RCV_LARGE    0x0800u

/* What mach_msg answers. */
#define MSG_SUCCESS	    0u
#define SEND_INVALID_DATA   0x10000002u
#define SEND_INVALID_DEST   0x10000003u
#define SEND_TIMED_OUT	    0x10000004u
#define SEND_INTERRUPTED    0x10000007u
#define SEND_TOO_SMALL	    0x10000008u
#define SEND_INVALID_REPLY  0x10000009u
#define SEND_INVALID_RIGHT  0x1000000au
#define SEND_INVALID_NOTIFY 0x1000000bu
#define SEND_NO_BUFFER	    0x1000000du
#define SEND_NO_NOTIFY	    0x1000000eu
#define SEND_INVALID_TYPE   0x1000000fu
#define SEND_INVALID_HEADER 0x10000010u
#define RCV_INVALID_NAME    0x10004002u
#define RCV_TIMED_OUT	    0x10004003u
#define RCV_TOO_LARGE	    0x10004004u
#define RCV_PORT_DIED	    0x10004009u
#define RCV_INVALID_NOTIFY  0x10004007u
#define RCV_INVALID_DATA    0x10004008u
#define RCV_HEADER_ERROR    0x1000400bu
#define RCV_BODY_ERROR	    0x1000400cu
/* Or-ed to the last two: no name was left; the kernel had no room. */
#define ERROR_NAMES	    0x2000u
#define ERROR_KERNEL	    0x0800u

/* kern_return_t. */
#define KERN_SUCCESS		0u
#define KERN_INVALID_ADDRESS	1u
#define KERN_PROTECTION_FAILURE 2u
#define KERN_NO_SPACE		3u
#define KERN_INVALID_ARGUMENT	4u
#define KERN_FAILURE		5u
#define KERN_RESOURCE_SHORTAGE	6u
#define KERN_NAME_EXISTS	13u
#define KERN_INVALID_NAME	15u
#define KERN_INVALID_TASK	16u
#define KERN_INVALID_RIGHT	17u
#define KERN_INVALID_VALUE	18u
#define KERN_UREFS_OVERFLOW	19u
#define KERN_INVALID_CAPABILITY 20u
#define KERN_RIGHT_EXISTS	21u
#define KERN_INVALID_HOST	22u

#define MIG_BAD_ID	  ((uint32_t)-303)
#define MIG_BAD_ARGUMENTS ((uint32_t)-304)

#define DEVICE_NO_SUCH_DEVICE	 2502u
#define DEVICE_INVALID_OPERATION 2505u

/* Notifications, by their ids. */
#define NOTIFY_PORT_DELETED 65u
#define NOTIFY_NO_SENDERS   70u
#define NOTIFY_SEND_ONCE    71u
#define NOTIFY_DEAD_NAME    72u

#define PROTECTION_WRITE 2u
#define PROTECTION_ALL	 7u

#define SWITCH_OPTION_WAIT 2u

#define FLAVOR_THREAD_STATE 1u /* i386_THREAD_STATE */
#define MOST_STATE_NUMBERS  1024u

/* Ids of requests; a reply's is so much more. */
#define REPLY_IS	      100u
#define ID_TASK_CREATE	      2007
#define ID_TASK_TERMINATE     2008
#define ID_THREAD_TERMINATE   2016
#define ID_THREAD_SET_STATE   2018
#define ID_VM_ALLOCATE	      2021
#define ID_VM_DEALLOCATE      2023
#define ID_TASK_GET_PORT      2058
#define ID_THREAD_CREATE      2061
#define ID_THREAD_RESUME      2063
#define ID_VM_MAP	      2089
#define ID_HOST_GET_TIME      2634
#define ID_HOST_REBOOT	      2635
#define ID_HOST_GET_TIME_64   2643
#define ID_DEVICE_OPEN	      2800
#define ID_DEVICE_CLOSE	      2801
#define ID_DEVICE_MAP	      2809
#define ID_PORT_TYPE	      3201
#define ID_PORT_ALLOCATE_NAME 3203
#define ID_PORT_ALLOCATE      3204
#define ID_PORT_DESTROY	      3205
#define ID_PORT_DEALLOCATE    3206
#define ID_PORT_GET_REFS      3207
#define ID_PORT_MOD_REFS      3208
#define ID_PORT_SET_LIMIT     3210
#define ID_PORT_NOTIFICATION  3214
#define ID_PORT_INSERT_RIGHT  3215
#define ID_PORT_STATUS	      3217

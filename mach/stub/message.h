/*
 * Messages of GNU Mach (1.8+git20261028) as mach/message.h, device/device_types.h and MIG's stubs of device/device.defs have them, by the
 * program's width. The names are GNU Mach's, where it has one. The probe has it, too (probe/mach.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MACH_MSG_TYPE_INTEGER_32     2u
#define MACH_MSG_TYPE_INTEGER_64     11u
#define MACH_MSG_TYPE_STRING	     12u
#define MACH_MSG_TYPE_PORT_NAME	     15u
#define MACH_MSG_TYPE_MOVE_RECEIVE   16u
#define MACH_MSG_TYPE_MOVE_SEND	     17u
#define MACH_MSG_TYPE_MOVE_SEND_ONCE 18u
#define MACH_MSG_TYPE_COPY_SEND	     19u
#define MACH_MSG_TYPE_MAKE_SEND	     20u
#define MACH_MSG_TYPE_MAKE_SEND_ONCE 21u
#define MACH_MSG_TYPE_PORT_SEND	     MACH_MSG_TYPE_MOVE_SEND /* as what is received is described */

#define MACH_MSGH_BITS(remote, local) ((remote) | (local) << 8)
#define MACH_MSGH_BITS_COMPLEX	      0x80000000u /* there are rights behind the header */

#define MACH_SEND_MSG	  0x1u
#define MACH_RCV_MSG	  0x2u
#define MACH_SEND_TIMEOUT 0x10u
#define MACH_RCV_TIMEOUT  0x100u

#define D_NO_SUCH_DEVICE 2502u

/* Ids of requests, as MIG counts them; a reply's is so much more. */
#define ID_DEVICE_OPEN	     2800u
#define ID_DEVICE_CLOSE	     2801u
#define ID_DEVICE_MAP	     2809u
#define ID_MACH_PORT_DESTROY 3205u
#define REPLY_IS	     100u

typedef struct {
	uint32_t msgh_bits, msgh_size;
	uintptr_t msgh_remote_port, msgh_local_port; /* names, each in a word */
	uint32_t msgh_seqno, msgh_id;
} mach_msg_header_t;

/* The description of an item, mach_msg_type_t's fields as one number: its type, the bits of an element, how many there are, and that it is in line. */
#ifdef __x86_64__
typedef uint64_t mach_msg_type_t;
#define DESCRIBED(name, size, number)                                                                        \
	((uint64_t)(name) | (uint64_t)(size) << 8 | 1ul << 29 | (uint64_t)(number) << 32)
#define ITEM_WORD DESCRIBED(MACH_MSG_TYPE_INTEGER_64, 64, 1)
#else
typedef uint32_t mach_msg_type_t;
#define DESCRIBED(name, size, number)                                                                        \
	((uint32_t)(name) | (uint32_t)(size) << 8 | (uint32_t)(number) << 16 | 1u << 28)
#define ITEM_WORD DESCRIBED(MACH_MSG_TYPE_INTEGER_32, 32, 1)
#endif
#define ITEM_INTEGER	DESCRIBED(MACH_MSG_TYPE_INTEGER_32, 32, 1)
#define ITEM_PORT_NAME	DESCRIBED(MACH_MSG_TYPE_PORT_NAME, 32, 1)
#define ITEM_SEND_RIGHT DESCRIBED(MACH_MSG_TYPE_PORT_SEND, 8 * sizeof(uintptr_t), 1)

/* The same of an element with more bits than a short description of 32 bits has room for. */
#ifdef __x86_64__
typedef mach_msg_type_t mach_msg_type_long_t;
#define DESCRIBED_LONG(name, size, number) (DESCRIBED(name, size, number) | 1ul << 30)
#else
typedef struct {
	mach_msg_type_t msgtl_header;
	uint16_t msgtl_name, msgtl_size;
	uint32_t msgtl_number;
} mach_msg_type_long_t;
#define DESCRIBED_LONG(name, size, number) ((mach_msg_type_long_t){3u << 28, name, size, number})
#endif

/* An item with one value, which fills a word; the upper half of one of 32 bits is 0. */
struct item {
	mach_msg_type_t type;
	uintptr_t value;
};

typedef char dev_name_t[128];

/* Requests for a device, and their answers. */
union device_message {
	mach_msg_header_t header;
	struct {
		mach_msg_header_t head;
		struct item items[4]; /* of an answer: the result, and what there is besides */
	};
	struct {
		mach_msg_header_t head;
		struct item mode;
		mach_msg_type_long_t type;
		dev_name_t name;
	} open;
	struct {
		mach_msg_header_t head;
		struct item protection, offset, size, unmap;
	} map;
};

#ifdef __x86_64__
#define BY_WIDTH(narrow, wide) wide
#else
#define BY_WIDTH(narrow, wide) narrow
#endif
#define AT(type, member, narrow, wide)                                                                       \
	_Static_assert(offsetof(type, member) == BY_WIDTH(narrow, wide), #type "." #member)
#define BYTES(what, narrow, wide) _Static_assert(sizeof(what) == BY_WIDTH(narrow, wide), #what)
BYTES(mach_msg_header_t, 24, 32);
AT(mach_msg_header_t, msgh_bits, 0, 0);
AT(mach_msg_header_t, msgh_size, 4, 4);
AT(mach_msg_header_t, msgh_remote_port, 8, 8);
AT(mach_msg_header_t, msgh_local_port, 12, 16);
AT(mach_msg_header_t, msgh_seqno, 16, 24);
AT(mach_msg_header_t, msgh_id, 20, 28);
BYTES(struct item, 8, 16);
AT(struct item, value, 4, 8);
BYTES(mach_msg_type_long_t, 12, 8);
AT(union device_message, items, 24, 32);
BYTES(((union device_message *)0)->open, 172, 184);
AT(union device_message, open.mode, 24, 32);
AT(union device_message, open.type, 32, 48);
AT(union device_message, open.name, 44, 56);
BYTES(((union device_message *)0)->map, 56, 96);
AT(union device_message, map.offset, 32, 48);
AT(union device_message, map.size, 40, 64);
AT(union device_message, map.unmap, 48, 80);
_Static_assert(ITEM_INTEGER == BY_WIDTH(0x10012002ul, 0x120002002ul), "an int");
#undef AT
#undef BYTES
#undef BY_WIDTH

/* What is behind the header of a request to open a device; mode 0. */
static inline void device_open_request(union device_message *message, const char *name)
{
	message->open.mode = (struct item){ITEM_INTEGER, 0};
	message->open.type = DESCRIBED_LONG(MACH_MSG_TYPE_STRING, 8 * sizeof(dev_name_t), 1);
	for (unsigned i = 0; i < sizeof(dev_name_t); i++) {
		message->open.name[i] = *name;
		name += *name != 0;
	}
}

/* The same of one to map so many bytes of it, from its beginning. */
static inline void device_map_request(union device_message *message, uint32_t protection, uintptr_t bytes)
{
	message->map.protection = (struct item){ITEM_INTEGER, protection};
	message->map.offset = (struct item){ITEM_WORD, 0};
	message->map.size = (struct item){ITEM_WORD, bytes};
	message->map.unmap = (struct item){ITEM_INTEGER, 0};
}

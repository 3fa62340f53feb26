/* Requests to devices as MIG's stubs send them, by the program's width: a header, and items that are a description and a value each. */
#pragma once

#include <stdint.h>

struct header {
	uint32_t bits, size;
	uintptr_t remote, local; /* names, each in a word */
	uint32_t sequence, id;
};

#define COPY_SEND	    19u
#define MAKE_SEND_ONCE	    21u
#define BITS(remote, local) ((remote) | (local) << 8)
#define SEND		    1u
#define RECEIVE		    2u
#define SEND_TIMEOUT	    0x10u
#define RECEIVE_TIMEOUT	    0x100u

#ifdef __x86_64__
typedef uint64_t description;
#define DESCRIBED(type, bits, number)                                                                        \
	((uint64_t)(type) | (uint64_t)(bits) << 8 | 1ul << 29 | (uint64_t)(number) << 32)
/* Of 1024 bits, one of them. */
typedef uint64_t name_description;
#define DESCRIBED_NAME (12 | 1024ul << 8 | 3ul << 29 | 1ul << 32)
#define WORD	       DESCRIBED(11, 64, 1)
_Static_assert(sizeof(struct header) == 32, "mach_msg_header_t");
#else
typedef uint32_t description;
#define DESCRIBED(type, bits, number)                                                                        \
	((uint32_t)(type) | (uint32_t)(bits) << 8 | (uint32_t)(number) << 16 | 1u << 28)
typedef struct {
	uint32_t flags;
	uint16_t type, bits;
	uint32_t number;
} name_description;
#define DESCRIBED_NAME ((name_description){3u << 28, 12, 1024, 1})
#define WORD	       DESCRIBED(2, 32, 1)
_Static_assert(sizeof(struct header) == 24, "mach_msg_header_t");
#endif
#define INTEGER	   DESCRIBED(2, 32, 1)
#define PORT_NAME  DESCRIBED(15, 32, 1)
#define SEND_RIGHT DESCRIBED(17, 8 * sizeof(uintptr_t), 1)

/* A value fills a word; the upper half of one of 32 bits is 0. */
struct item {
	description type;
	uintptr_t value;
};

#define NAME_BYTES   128
#define DEVICE_OPEN  2800u
#define DEVICE_CLOSE 2801u
#define DEVICE_MAP   2809u
#define PORT_DESTROY 3205u
#define REPLY_IS     100u /* its id is so much more */

union message {
	struct header header;
	struct {
		struct header head;
		struct item items[4]; /* of an answer: the result, and what there is besides */
	};
	struct {
		struct header open_head;
		struct item mode;
		name_description type;
		char name[NAME_BYTES];
	} open;
};

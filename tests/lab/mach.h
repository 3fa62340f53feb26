/*
 * What programs of these tests know of GNU Mach: layouts and numbers as its headers have them (1.8+git20261028), written anew. Each offset
 * is asserted, at both widths; mach64.S and mach32.S have the traps.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint32_t name;

struct header {
	uint32_t bits, size;
	union {
		name remote;
		uintptr_t remote_word;
	};
	union {
		name local;
		uintptr_t local_word;
	};
	uint32_t sequence, id;
};

/* A description of an item, as one number. */
#ifdef __x86_64__
typedef uint64_t item;
#define ITEM(type, bits, number)                                                                             \
	((uint64_t)(type) | (uint64_t)(bits) << 8 | 1ul << 29 | (uint64_t)(number) << 32)
#define OUT_OF_LINE(type, bits, number) ((uint64_t)(type) | (uint64_t)(bits) << 8 | (uint64_t)(number) << 32)
#define UNUSED_BIT			(1ul << 24)
#define DEALLOCATE			(1ul << 31)
#define IS_WIDE				1
#define CHOOSE(narrow, wide)		wide
#else
typedef uint32_t item;
#define ITEM(type, bits, number)                                                                             \
	((uint32_t)(type) | (uint32_t)(bits) << 8 | (uint32_t)(number) << 16 | 1u << 28)
#define OUT_OF_LINE(type, bits, number) ((uint32_t)(type) | (uint32_t)(bits) << 8 | (uint32_t)(number) << 16)
#define UNUSED_BIT			(1u << 31)
#define DEALLOCATE			(1u << 30)
#define IS_WIDE				0
#define CHOOSE(narrow, wide)		narrow
#endif
#define WORD_BITS (8 * sizeof(item))

/* A word of the program's width, as the kernel describes it. */
#define WORD_ITEM ITEM(CHOOSE(INTEGER_32, 11u), WORD_BITS, 1)

/* An item of one element, at a multiple of its width. */
struct word_item {
	item type;
	union {
		uint32_t value;
		uintptr_t word;
	};
};

struct reply {
	struct header header;
	struct word_item result;
};

#define OFFSET(type, member, narrow, wide)                                                                   \
	_Static_assert(offsetof(type, member) == CHOOSE(narrow, wide), #type "." #member)
#define SIZE(type, narrow, wide) _Static_assert(sizeof(type) == CHOOSE(narrow, wide), #type)
SIZE(struct header, 24, 32);
OFFSET(struct header, bits, 0, 0);
OFFSET(struct header, size, 4, 4);
OFFSET(struct header, remote, 8, 8);
OFFSET(struct header, local, 12, 16);
OFFSET(struct header, sequence, 16, 24);
OFFSET(struct header, id, 20, 28);
SIZE(struct word_item, 8, 16);
OFFSET(struct word_item, value, 4, 8);
SIZE(struct reply, 32, 48);
OFFSET(struct reply, result.type, 24, 32);
OFFSET(struct reply, result.value, 28, 40);
_Static_assert(ITEM(2, 32, 1) == CHOOSE(0x10012002ul, 0x120002002ul), "an INTEGER_32");

#define NAME_DEAD 0xffffffffu

#define MOVE_RECEIVE	    16u
#define MOVE_SEND	    17u
#define MOVE_SEND_ONCE	    18u
#define COPY_SEND	    19u
#define MAKE_SEND	    20u
#define MAKE_SEND_ONCE	    21u
#define BITS(remote, local) ((remote) | (local) << 8)
#define COMPLEX		    0x80000000u

#define INTEGER_32 2u
#define BOOLEAN	   0u
#define PORT_NAME  15u

#define RECEIVE	  1u /* mach_port_right_t */
#define SET	  3u
#define DEAD_NAME 4u

#define SEND_MSG     1u
#define RCV_MSG	     2u
#define SEND_TIMEOUT 0x10u
#define SEND_NOTIFY  0x20u
#define SEND_CANCEL  0x80u
#define RCV_TIMEOUT  0x100u
#define RCV_NOTIFY   0x200u
#define RCV_LARGE    0x800u

#define PAGE		 4096u
#define READ_AND_EXECUTE 5u
#define ENTRY_PAGE	 0x10000000u /* where one task maps the page of the device `entry` for another */

/* mach64.S, mach32.S */
uint32_t mach_msg(void *message, uint32_t option, uint32_t send_size, uint32_t receive_size, name from,
		  uint32_t milliseconds, name notify);
name mach_reply_port(void);
name mach_thread_self(void);
name mach_task_self(void);
name mach_host_self(void);
uint32_t mach_print(const char *text);
uint32_t evc_wait(uint32_t id);
uint32_t swtch(void);
uint32_t swtch_pri(int priority);
uint32_t thread_switch(name thread, uint32_t option, uint32_t milliseconds);
uint32_t vm_map(name task, uintptr_t *address, uintptr_t bytes, uintptr_t mask, uint32_t anywhere,
		name object, uintptr_t offset, uint32_t copy, uint32_t protection, uint32_t most,
		uint32_t inheritance);
uint32_t vm_allocate(name task, uintptr_t *address, uintptr_t bytes, uint32_t anywhere);
uint32_t vm_deallocate(name task, uintptr_t address, uintptr_t bytes);
uint32_t task_create(name parent, uint32_t inherits, name *made);
uint32_t task_terminate(name task);
uint32_t mach_port_allocate(name task, uint32_t right, name *made);
uint32_t mach_port_deallocate(name task, name of);
uint32_t mach_port_insert_right(name task, name as, name right, uint32_t type);
uint32_t mach_port_allocate_name(name task, uint32_t right, name as);
uint32_t trap_31(void), trap_10(void), trap_129(void), trap_130(void), trap_131(void);
/* A call of Linux's, with its number of the program's width. */
long linux_call(long number, long first, long second, long third);
/* Registers that must be as they were, by a trap: how many are not. */
long registers_changed(long number);
extern void (*const ways[])(void);
extern void (*way)(void); /* which entry the traps take */
extern const uint32_t way_count;

/* mach.c */
extern name self;
void print_number(const char *what, uint64_t number); /* a line */
void *memset(void *to, int value, size_t count);
void *memcpy(void *to, const void *from, size_t count);
/* A request with nothing but what stands behind the header, and its answer; the code that the answer has, or that of mach_msg. */
uint32_t request(name to, uint32_t id, uint32_t bits, void *message, uint32_t send_size,
		 uint32_t receive_size);
name new_port(void);
/* By the device master port; the result of device_open. */
uint32_t device_open(name master, const char *called, name *device);
uint32_t device_pager(name device, name *pager); /* device_map, of a page */
/* What a program does; the words behind the names of the ports. */
void run(int count, char **words);

/* A request to the kernel, taken apart (server.c), and what its routine answers. */
#pragma once

#include "mach/task.h"

#define MOST_ITEMS    11
#define STRING_BYTES  128
#define STATE_NUMBERS 9 /* of mach_port_status_t */
#define MOST_OUT      5 /* words of an item */

struct request {
	struct port *to; /* what it was sent to */
	uint64_t
	    in[MOST_ITEMS]; /* numbers; of a right the port's, which is 0 once the routine has taken it */
	unsigned types[MOST_ITEMS]; /* of rights */
	const uint8_t *string;
	const uint8_t *array; /* of numbers of 32 bits */
	uint32_t array_count;
	/* The answer: one item, as the routine's row says. */
	uint64_t out[MOST_OUT];
	struct right right;
	struct task *sender;
	/* When it has been answered: the task that has sent it ends, or its thread that has. */
	int ends_sender, ends_thread;
};

/* server_port.c, server_machine.c: KERN_* and the like, each by the id of mach/interface.h; MIG_BAD_ID when it is none of theirs. */
uint32_t serve_port(uint32_t id, struct request *request);
uint32_t serve_machine(uint32_t id, struct request *request);

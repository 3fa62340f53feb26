/* What Mach knows of a thread (user/thread.h). */
#pragma once

#include <stdint.h>

struct task;
struct port;
struct message;

struct mach_thread {
	struct task *task; /* null: a program of Linux's calls alone */
	struct port *self;
	int is_suspended;	 /* it was made, and has not begun */
	int waits;		 /* it is not to run until wait_ends */
	int is_sender, has_end;	 /* what it waits for; whether it waits for ever */
	struct port *waits_for;	 /* null: for time alone; until it runs again, what it has waited for */
	struct message *message; /* of a sender, to be queued by whoever makes room */
	uint64_t ticket;	 /* who has waited longest goes first */
	uint64_t end;		 /* nanoseconds */
	uint32_t result;
};

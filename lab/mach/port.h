/*
 * Ports, and what tasks have of them: rights under names. A port is what messages are sent to; who has its receive right gets them. The
 * pools are fixed, and each task has its share, so that none takes what another needs.
 */
#pragma once

#include "entry/layout.h"
#include "mach/interface.h"

#include <stdint.h>

#define MOST_TASKS	   MOST_THREADS
#define MOST_PORTS	   2048
#define MOST_PORTS_OF_TASK 240 /* the rest is the kernel's own */
#define MOST_NAMES	   512 /* of a task; a new name is less */
#define MOST_CHOSEN_NAMES  32  /* greater ones, which a program chooses (mach_port_allocate_name) */

struct task;
struct thread;
struct message;

/* What a port stands for, if its messages are the kernel's to serve. */
enum port_object {
	OBJECT_NONE, /* a program's own */
	OBJECT_TASK,
	OBJECT_THREAD,
	OBJECT_HOST,
	OBJECT_HOST_PRIVATE,
	OBJECT_DEVICES, /* the device master port */
	OBJECT_DEVICE,
	OBJECT_PAGER, /* of a device */
};

struct port {
	enum port_object object;
	uint32_t number;     /* of the object: which task, thread, device */
	uint32_t references; /* names, rights in messages, requests, the kernel's own; 0: unused */
	int is_alive;
	struct task *receiver; /* null: the kernel's, or on its way in a message */
	/* Who has the receive right, or has sent the message that has it; what comes unasked is charged to it. Null: the kernel's. */
	struct task *last_receiver;
	struct port *transit;	    /* where the message goes that has the receive right */
	uint32_t names[MOST_TASKS]; /* of the send or receive right, or both, in each task; 0: none */
	uint32_t send_rights, once_rights, make_sends; /* rights: one for each name, and each message */
	uint32_t sequence, limit, queued;
	struct message *first, *last;
	struct port *no_senders; /* a send-once right, told when there are no send rights any more */
	struct task *charged;
	struct port *next; /* unused, or about to die */
};

/* A right that is in no task, of type ITEM_PORT_*. The port may be PORT_NULL or PORT_DEAD. */
#define PORT_NULL ((struct port *)0)
#define PORT_DEAD ((struct port *)-1l)
struct right {
	struct port *port;
	unsigned type;
};

/* A name, and what is under it. */
struct entry {
	uint32_t name, type, references; /* TYPE_*, 0: unused */
	int is_listed;			 /* among the freed ones */
	struct entry *next_free;
	struct port *port;    /* null for a dead name or a set */
	struct port *request; /* a send-once right, told when the port dies */
};

struct name_space {
	struct entry entries[MOST_NAMES + MOST_CHOSEN_NAMES];
	struct entry *freed; /* the last first */
	uint32_t fresh;	     /* no lower one was never used */
};

static inline int port_is_real(const struct port *port)
{
	return port != PORT_NULL && port != PORT_DEAD;
}

/* port.c */
void ports_reset(void);
/* A new one, with one reference; null when there is none left, or the task has its share. It is charged if it is not null. */
struct port *port_new(enum port_object object, uint32_t number, struct task *charged);
void port_refer(struct port *port);
void port_forget(struct port *port); /* one reference less */
/* Of what has ended: it dies, and the kernel's own reference goes. */
void port_ends(struct port *port);
/* Ports as numbers of 32 bits, as they stand in messages. Only what port_number has given is to be asked for. */
uint32_t port_number(const struct port *port);
struct port *port_by_number(uint32_t number);
struct right port_make_send(struct port *port); /* as a kernel's own right, uncounted among the make-sends */
/* Nobody receives any more. Names become dead names, queued messages are destroyed, who waits goes on. */
void port_dies(struct port *port);
/* The receive right is in a message, or in another task from here on. */
void port_moves(struct port *port, struct task *receiver);
void port_set_limit(struct port *port, uint32_t limit); /* who waits to send may go on */
/* A right that nobody has taken. Its owner may be told. */
void right_destroy(struct right right);
/* The right that a message came by, to send: it is used up, and nobody is told. */
void right_is_used(struct right right);
void once_right_is_used(struct port *port);
void send_right_ends(struct port *port);

/* names.c */
void names_reset(struct name_space *names);
struct entry *name_find(struct name_space *names, uint32_t name); /* null: nothing is there */
struct entry *name_new(struct name_space *names); /* null: there are too many; else type must be set */
struct entry *name_new_at(struct name_space *names, uint32_t name);
void name_free(struct name_space *names, struct entry *entry); /* it has no port any more */

/* rights.c: between a task's names and rights in messages. */
int right_may(const struct entry *entry, unsigned item); /* whether it can be sent so (ITEM_*) */
unsigned right_received_as(unsigned item);		 /* ITEM_PORT_* of what is sent so */
struct right right_take(struct task *task, struct entry *entry, unsigned item); /* what may be taken */
/* The task gets a right. Its name, NAME_NULL or NAME_DEAD for what is none; 0 with *is_full when it can have no more. */
uint32_t right_give(struct task *task, struct right right, int *is_full);
/* Under this name: KERN_*. With an error the right is still the caller's. */
uint32_t right_give_as(struct task *task, uint32_t name, struct right right);
/* So many references more or less of one of the rights under a name (RIGHT_*); mach_port_mod_refs. */
uint32_t right_change(struct task *task, uint32_t name, uint32_t right, int32_t change);
uint32_t right_drop(struct task *task, uint32_t name);	      /* mach_port_deallocate */
uint32_t right_destroy_all(struct task *task, uint32_t name); /* mach_port_destroy */
uint32_t right_references(struct task *task, uint32_t name, uint32_t right, uint32_t *count);
uint32_t right_allocate(struct task *task, uint32_t right, uint32_t *name); /* mach_port_allocate */
uint32_t right_allocate_at(struct task *task, uint32_t right, uint32_t name);
void entry_dies(struct task *task, struct entry *entry); /* its port has died */
void rights_end(struct task *task);			 /* of a task that ends */

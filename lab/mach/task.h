/* Tasks: an address space, names and threads. The task of a program begins with one thread; one that is made by task_create has none. */
#pragma once

#include "mach/message.h"
#include "mach/port.h"
#include "mach/start.h"
#include "mm/mm.h"

struct task {
	int is_used, is_alive;
	unsigned width;		     /* of its programs: 32 or 64 */
	struct address_space *space; /* null when it has ended */
	struct port *self;
	struct name_space names;
	unsigned ports, messages[MESSAGE_KINDS]; /* that are charged to it */
};

/* task.c */
/* null when there is none left. Its port is charged to the task that has asked for it, if one has. */
struct task *task_new(struct address_space *of, unsigned width, struct task *charged);
struct task *task_by_number(uint32_t number);
uint32_t task_number(const struct task *task);
/* With its threads, rights and port; the address space is the caller's to end. */
void task_dies(struct task *task);
uint32_t task_create(struct task *parent, int inherits, struct task **made); /* KERN_* */
uint32_t task_terminate(struct task *task);
/* The task that a name of the current one's stands for; null if it stands for none that lives. */
struct task *task_named(uint32_t name);
struct task *task_of_port(const struct port *port);
struct port *port_of_host(int is_private);
struct port *port_of_devices(void);

/* thread.c: threads as requests name them; KERN_* */
struct thread *thread_of_port(const struct port *port);		      /* null unless it lives */
uint32_t task_thread_create(struct task *task, struct thread **made); /* it begins by thread_resume */
/* So many numbers of 32 bits. Before it has begun. */
uint32_t thread_set_state(struct thread *thread, uint32_t flavor, const uint8_t *bytes, uint32_t numbers);
uint32_t thread_resume(struct thread *thread);
void thread_terminate(struct thread *thread); /* does not return where it is the current one */
/* How all threads of a task end, in two steps: they wait and run no more; nobody can name them any more. */
void threads_stop(const struct task *task);
void threads_forget(const struct task *task);

/* vm.c: KERN_* */
uint32_t task_make_shadow_stack(struct task *task, uint64_t *top); /* 0: its programs have none */
void task_drop_shadow_stack(struct task *task, uint64_t top);
uint32_t task_vm_allocate(struct task *task, uint64_t *address, uint64_t bytes, int anywhere);
uint32_t task_vm_deallocate(struct task *task, uint64_t address, uint64_t bytes);
struct map {
	uint64_t address, bytes, mask, offset;
	uint32_t anywhere, copy, protection, most_protection, inheritance;
	struct port *object; /* PORT_NULL: zeroes */
};
uint32_t task_vm_map(struct task *task, struct map *map);

/* device.c */
uint32_t device_find(const uint8_t *name, uint32_t bytes, uint32_t *device); /* DEVICE_* */
struct port *device_port(uint32_t device, struct task *charged);	     /* if it is not open yet */
void device_opened(uint32_t device);					     /* once more */
void device_closed(uint32_t device); /* the last time, its port dies */
struct port *device_pager(uint32_t device);
const void *device_page(uint32_t device, unsigned width); /* what its pager has, for tasks of that width */
unsigned device_protection(uint32_t device);		  /* the most that a mapping of it may have */
void devices_reset(void);
/* time.c */
extern uint8_t mapped_time_64[], mapped_time_32[];

/* entry_page.c: the page of `entry`, for tasks of that width */
const void *entry_page(unsigned width);

/* server.c: serves a request to a port of the kernel, and sends the reply. The request is used up. */
void server_serve(struct message *request);

/* wait.c */
/* Waits until somebody calls wait_ends for the current thread, or so many milliseconds are over: then `over`. */
uint32_t wait_for(struct port *port, int is_sender, int has_end, uint32_t milliseconds, uint32_t over);
/* The same wait goes on, in its place among those that wait, and until the same end: what has ended it is not there any more. */
uint32_t wait_on(struct port *port, uint32_t over);
void wait_ends(struct thread *thread, uint32_t result);
struct thread *wait_oldest_sender(const struct port *port);
struct thread *wait_receiver(const struct port *port);
void wait_receivers_end(const struct port *port); /* all of them: the port is not theirs any more */

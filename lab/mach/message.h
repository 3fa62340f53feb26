/*
 * Messages in the kernel. A message is copied from the sender once, and is then the kernel's: in it stands what the sender wrote, but
 * for names, which have become numbers of ports. Its width is the sender's (32 or 64): headers and items differ (docs/mach.md).
 */
#pragma once

#include "mach/port.h"

#define MOST_MESSAGE_BYTES 32768	       /* a longer one is SEND_NO_BUFFER */
#define MESSAGE_POISON	   0xdb		       /* in memory that no message has */
#define MESSAGE_SIZES	   3		       /* of buffers; */
#define MESSAGE_KINDS	   (MESSAGE_SIZES + 1) /* and those of notifications */

struct message {
	struct message *next; /* in a queue, or unused */
	uint8_t *bytes;	      /* as a program of this width sees it */
	uint32_t capacity, size;
	unsigned width;
	uint32_t bits;		    /* without the types of ports */
	struct right remote, local; /* where it goes; where the answer is to go */
	struct task *charged;
	unsigned kind; /* of memory */
};

/* Bytes of a header, and what sizes are multiples of, at each width. */
static inline uint32_t header_bytes(unsigned width)
{
	return width == 64 ? 32 : 24;
}

static inline uint32_t message_alignment(unsigned width)
{
	return width / 8;
}

/* message.c */
void messages_reset(void);
/* Zeroed; null when there is none, or the task has its share. */
struct message *message_new(uint32_t size, unsigned width, struct task *charged);
/* The same, of another share. */
struct message *message_new_notification(uint32_t size, unsigned width, struct task *charged);
void message_free(struct message *message); /* its rights are somebody else's already */
/* With all of its rights. If the destination has got it, a send-once right is used, and nobody is told that it has ended. */
void message_destroy(struct message *message, int is_destination_used);
void message_set_id(struct message *message, uint32_t id);
uint32_t message_id(const struct message *message);
uint32_t message_sequence(const struct message *message); /* as the sender wrote it */
/* To another width; rights in the body are lost then, and 0 is returned. */
int message_convert(struct message *message, unsigned width);
/* Writes the header as the receiver sees it. */
void message_write_header(struct message *message, uint32_t bits, uint32_t remote, uint32_t local,
			  uint32_t sequence);
/* From a program: MSG_SUCCESS, or SEND_*. */
uint32_t message_read(uint64_t from, uint32_t size, struct task *sender, struct message **read);

/* body.c: items behind the header, some of which are rights. */
uint32_t body_take(struct message *message, struct task *sender); /* names to rights: MSG_SUCCESS or SEND_* */
int body_give(struct message *message, struct task *receiver); /* rights to names; 0 when some had no room */
void body_destroy(struct message *message);

/* queue.c */
/* Sends what was read, or has been made. With SEND_TIMED_OUT and the like the message is still the caller's. */
uint32_t message_send(struct message *message, uint32_t option, uint32_t milliseconds);
void message_put(struct port *port, struct message *message); /* beyond any limit */
/* If the port has a message, wakes the thread that has waited longest for one: when it is queued, and when a thread that was woken leaves it. */
void message_offer(const struct port *port);
struct message *message_get(struct port *port);		     /* the first, which must be there */
void notify(struct port *once, uint32_t id, uint32_t value); /* uses up the send-once right */

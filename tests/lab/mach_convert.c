/* A message that goes to a task of another width (lab/mach/message.c), and what is in its memory then: `convert FROM TO BYTES`. */
#include "mach/message.h"
#include "mach/task.h"

#include <stdio.h>
#include <stdlib.h>

/* What message.c calls elsewhere: a message without rights, which no task has sent, needs none of it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* clang-format off */
void right_is_used(struct right right) { abort(); }
void right_destroy(struct right right) { abort(); }
void body_destroy(struct message *message) { abort(); }
uint32_t body_take(struct message *message, struct task *sender) { abort(); }
struct entry *name_find(struct name_space *names, uint32_t name) { abort(); }
int right_may(const struct entry *entry, unsigned item) { abort(); }
unsigned right_received_as(unsigned item) { abort(); }
struct right right_take(struct task *task, struct entry *entry, unsigned item) { abort(); }
long user_read(void *to, uint64_t from, uint64_t bytes) { abort(); }
/* clang-format on */

#define SECRET 0xc5

/* How many bytes of the sender's are left in the memory when the message has been given back. */
int main(int count, char **words)
{
	const unsigned from = (unsigned)atoi(words[1]), to = (unsigned)atoi(words[2]);
	struct message *const message = message_new((uint32_t)atoi(words[3]), from, 0);
	unsigned left = 0;

	if (count != 4 || !message)
		return 1;
	const uint32_t size = message->size, capacity = message->capacity;
	const uint8_t *const bytes = message->bytes;
	__builtin_memset(message->bytes, SECRET, size);
	message_convert(message, to);
	message_free(message);
	for (uint32_t at = 0; at < capacity; at++)
		left += bytes[at] == SECRET;
	printf("%u\n", left);
	return 0;
}

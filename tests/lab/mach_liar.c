/*
 * In the place of a probe's server: receives one request from the port that its client has given it the right of, and answers wrongly, as
 * its word says.
 */
#include "mach.h"

#define SERVED 100u

#define MOST 4096 /* bytes of data */

static struct {
	struct header header;
	struct word_item item; /* its value is the first of the data */
	uint8_t more[MOST];
} message;

/* What it answers instead of what its client is due; how many bytes. */
static uint32_t lie(char word, uint32_t bytes)
{
	message.header.id += word == 'i' ? 1 : 100;
	if (word == 'l')
		return bytes + sizeof(message.item);
	/* The server of the row changes the first word, and not this one. */
	if (word == 'b')
		message.item.value++, message.more[40]++;
	/* Of the right, the name and not the right. */
	if (word == 't')
		message.item.type = ITEM(PORT_NAME, 32, 1);
	return bytes;
}

void run(int count, char **words)
{
	(void)count;
	while (mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0))
		swtch();
	const name reply = message.header.remote;
	const uint32_t bytes = lie(words[0][0], message.header.size);

	message.header.bits = BITS(MOVE_SEND_ONCE, 0);
	message.header.remote = reply;
	message.header.local = 0;
	mach_msg(&message, SEND_MSG, bytes, 0, 0, 0, 0);
	/* What its client sends at its end. */
	mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0);
}

/*
 * In the place of a probe's server: receives requests from the port that its client has given it the right of, and answers the first wrongly,
 * as its word says; or it answers as many as are checked before any is timed, and ends.
 */
#include "mach.h"

#define SERVED 100u

#define MOST   4096 /* bytes of data */
#define CHECKS 8

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

static void answer(char word)
{
	const name reply = message.header.remote;
	const uint32_t bytes = lie(word, message.header.size);

	message.header.bits = BITS(MOVE_SEND_ONCE, 0);
	message.header.remote = reply;
	message.header.local = 0;
	mach_msg(&message, SEND_MSG, bytes, 0, 0, 0, 0);
}

void run(int count, char **words)
{
	const char word = words[0][0];
	const unsigned answers = word == 'd' ? CHECKS : 1;

	(void)count;
	for (unsigned i = 0; i < answers; i++) {
		while (mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0))
			swtch();
		answer(word);
	}
	/* What its client sends at its end; one that has ended gets no more. */
	if (word != 'd')
		mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0);
}

/*
 * In the place of a probe's server: receives one request from the port that its client has given it the right of, and answers wrongly, as
 * its word says.
 */
#include "mach.h"

#define SERVED 100u

static struct {
	struct header header;
	uint32_t more[2];
} message;

void run(int count, char **words)
{
	(void)count;
	while (mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0))
		swtch();
	const name reply = message.header.remote;
	const uint32_t id = message.header.id;

	message.header = (struct header){.bits = BITS(MOVE_SEND_ONCE, 0), .id = id};
	message.header.remote = reply;
	if (words[0][0] == 'i')
		message.header.id = id + 1;
	else
		message.header.id = id + 100;
	mach_msg(&message, SEND_MSG, words[0][0] == 'i' ? sizeof(message.header) : sizeof(message), 0, 0, 0,
		 0);
	/* What its client sends at its end. */
	mach_msg(&message, RCV_MSG, 0, sizeof(message), SERVED, 0, 0);
}

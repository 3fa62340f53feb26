/* Waiting for descriptors. */
#include "mm/mm.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/files.h"
#include "user/user.h"

#include <asm-generic/poll.h>

#define MASK_BYTES   8
#define MILLISECONDS 1000

struct poll_entry {
	int32_t descriptor;
	uint16_t wanted, found;
};

static uint16_t state_of(const struct open_file *file)
{
	switch (file->kind) {
	case FILE_INPUT: /* all of it is here, and nobody writes any more */
		return POLLHUP | (file_waiting(file) ? POLLIN | POLLRDNORM : 0);
	case FILE_PIPE_OUT:
		return (uint16_t)((file->pipe->writers ? 0 : POLLHUP) |
				  (file_waiting(file) ? POLLIN | POLLRDNORM : 0));
	case FILE_PIPE_IN:
		return (uint16_t)((file->pipe->readers ? 0 : POLLERR) |
				  (pipe_room(file->pipe) ? POLLOUT | POLLWRNORM : 0));
	default:
		return POLLOUT | POLLWRNORM;
	}
}

/* How many of them have something, or -EFAULT. */
static long look(word entries, word count)
{
	long ready = 0;

	for (word i = 0; i < count; i++) {
		struct poll_entry entry;
		const word at = entries + i * sizeof(entry);
		if (user_read(&entry, at, sizeof(entry)))
			return -EFAULT;
		const struct open_file *file = entry.descriptor < 0 ? 0 : file_at((uint32_t)entry.descriptor);
		entry.found = file ? state_of(file) & (entry.wanted | POLLERR | POLLHUP) : POLLNVAL;
		if (entry.descriptor < 0)
			entry.found = 0;
		ready += entry.found != 0;
		if (user_write(at, &entry, sizeof(entry)))
			return -EFAULT;
	}
	return ready;
}

/* Nothing changes while the only thread waits, so one look is enough. */
static long poll(word entries, word count, int for_ever, struct time_value time)
{
	if ((uint32_t)count > DESCRIPTORS)
		return -EINVAL;
	const long ready = look(entries, (uint32_t)count);
	if (ready)
		return ready;
	if (for_ever)
		waits_for_ever("poll for descriptors that never become ready");
	time_wait(CLOCK_MONOTONIC, time, 0);
	return 0;
}

long call_poll(word entries, word count, word milliseconds)
{
	const int32_t signed_time = (int32_t)milliseconds;
	const uint32_t time = signed_time < 0 ? 0 : (uint32_t)signed_time;
	const struct time_value value = {time / MILLISECONDS, time % MILLISECONDS * 1000000};

	return poll(entries, count, signed_time < 0, value);
}

static long poll_with_mask(word entries, word count, word time_at, word mask, word mask_bytes, int is_wide)
{
	struct time_value time = {0, 0};
	long problem = time_at ? time_read_from(time_at, is_wide, &time) : 0;

	if (!problem && mask)
		problem = mask_bytes != MASK_BYTES ? -EINVAL : 0;
	return problem ? problem : poll(entries, count, !time_at, time);
}

long call_ppoll(word entries, word count, word time, word mask, word mask_bytes)
{
	return poll_with_mask(entries, count, time, mask, mask_bytes, 1);
}

long call_ppoll_32(word entries, word count, word time, word mask, word mask_bytes)
{
	return poll_with_mask(entries, count, time, mask, mask_bytes, 0);
}

/* Descriptors, and what they lead to. */
#include "user/files.h"

#include <linux/fcntl.h>
#include <linux/errno.h>

#define FIRST_FREE 3
#define PIPES	   16
#define OPEN_FILES (FIRST_FREE + 2 * PIPES)

static struct open_file open_files[OPEN_FILES];
static struct pipe pipes[PIPES];
static struct {
	struct open_file *file;
	int close_on_exec;
} descriptors[DESCRIPTORS];

static struct text input; /* what is left of it */

void files_reset(struct text given)
{
	__builtin_memset(descriptors, 0, sizeof(descriptors));
	__builtin_memset(open_files, 0, sizeof(open_files));
	for (unsigned i = 0; i < PIPES; i++)
		pipes[i].readers = pipes[i].writers = 0;
	input = given;
	open_files[0] = (struct open_file){.kind = FILE_INPUT, .flags = O_RDONLY};
	for (unsigned i = 1; i < FIRST_FREE; i++)
		open_files[i] = (struct open_file){.kind = FILE_OUTPUT, .flags = O_WRONLY, .descriptor = i};
	for (unsigned i = 0; i < FIRST_FREE; i++)
		file_place(&open_files[i], i, 0);
}

struct open_file *file_at(uint64_t descriptor)
{
	const uint32_t number = (uint32_t)descriptor;

	return number < DESCRIPTORS ? descriptors[number].file : 0;
}

int *file_close_on_exec(unsigned descriptor)
{
	return &descriptors[descriptor].close_on_exec;
}

void file_place(struct open_file *file, unsigned descriptor, int close_on_exec)
{
	file->count++;
	file_close(descriptor);
	descriptors[descriptor].file = file;
	descriptors[descriptor].close_on_exec = close_on_exec;
}

long file_open(struct open_file *file, unsigned from, int close_on_exec)
{
	for (unsigned i = from; i < DESCRIPTORS; i++)
		if (!descriptors[i].file) {
			file_place(file, i, close_on_exec);
			return i;
		}
	return -EMFILE;
}

void file_close(unsigned descriptor)
{
	struct open_file *file = descriptors[descriptor].file;

	if (!file)
		return;
	descriptors[descriptor].file = 0;
	if (--file->count)
		return;
	if (file->kind == FILE_PIPE_OUT)
		file->pipe->readers = 0;
	if (file->kind == FILE_PIPE_IN)
		file->pipe->writers = 0;
}

static struct open_file *unused(void)
{
	for (unsigned i = FIRST_FREE; i < OPEN_FILES; i++)
		if (!open_files[i].count)
			return &open_files[i];
	return 0;
}

int file_new_pipe(struct open_file *ends[2], uint32_t flags)
{
	for (unsigned i = 0; i < PIPES; i++) {
		struct pipe *pipe = &pipes[i];

		if (pipe->readers || pipe->writers)
			continue;
		pipe->at = pipe->held = 0;
		pipe->readers = pipe->writers = 1;
		/* Each pipe has room for its two ends. */
		for (unsigned end = 0; end < 2; end++) {
			ends[end] = unused();
			*ends[end] = (struct open_file){
			    .kind = end ? FILE_PIPE_IN : FILE_PIPE_OUT,
			    .flags = flags | (end ? O_WRONLY : O_RDONLY),
			    .pipe = pipe,
			    .count = 1,
			};
		}
		ends[0]->count = ends[1]->count = 0;
		return 1;
	}
	return 0;
}

uint64_t file_waiting(const struct open_file *file)
{
	if (file->kind == FILE_INPUT)
		return input.count;
	return file->kind == FILE_PIPE_OUT ? file->pipe->held : 0;
}

void file_peek(const struct open_file *file, uint8_t *to, uint64_t count)
{
	if (file->kind == FILE_INPUT) {
		__builtin_memcpy(to, input.bytes, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		to[i] = file->pipe->bytes[(file->pipe->at + i) % PIPE_BYTES];
}

void file_drop(struct open_file *file, uint64_t count)
{
	if (file->kind == FILE_INPUT) {
		input.bytes += count;
		input.count -= count;
		return;
	}
	file->pipe->at = (unsigned)((file->pipe->at + count) % PIPE_BYTES);
	file->pipe->held -= (unsigned)count;
}

uint64_t pipe_room(const struct pipe *pipe)
{
	return PIPE_BYTES - pipe->held;
}

void pipe_put(struct pipe *pipe, const uint8_t *from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		pipe->bytes[(pipe->at + pipe->held + i) % PIPE_BYTES] = from[i];
	pipe->held += (unsigned)count;
}

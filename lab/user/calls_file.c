/*
 * Reading and writing. Standard output and error are the record stream, standard input is a file of the archive, and
 * there are no others; each looks like a pipe.
 */
#include "cpu/counters.h"
#include "mm/mm.h"
#include "plan/table.h"
#include "record.h"
#include "serial/console.h"
#include "serial/serial.h"
#include "user/calls.h"
#include "user/files.h"
#include "user/user.h"

#include <linux/fcntl.h>

#define CHUNK	    16384
#define MAX_VECTORS 1024
#define OUTPUT	    1
#define SIGPIPE	    13
/* What is written at once is not mixed with what others write. */
#define WHOLE_BYTES 4096

static uint8_t chunk[CHUNK];

static int is_user_range(word address, word bytes)
{
	return address <= user_end && bytes <= user_end - address;
}

/* The open file, if it can be read from (or written to); null if not. */
static struct open_file *readable(word file)
{
	struct open_file *open = file_at(file);

	return open && (open->kind == FILE_INPUT || open->kind == FILE_PIPE_OUT) ? open : 0;
}

static struct open_file *writable(word file)
{
	struct open_file *open = file_at(file);

	return open && (open->kind == FILE_OUTPUT || open->kind == FILE_PIPE_IN) ? open : 0;
}

long call_read(word file, word to, word bytes)
{
	struct open_file *open = readable(file);
	uint64_t done = 0;

	if (!open)
		return -EBADF;
	if (!is_user_range(to, bytes))
		return -EFAULT;
	if (bytes && !file_waiting(open)) {
		if (open->kind == FILE_INPUT || !open->pipe->writers)
			return 0;
		if (open->flags & O_NONBLOCK)
			return -EAGAIN;
		waits_for_ever("a read from an empty pipe");
	}
	const uint64_t waiting = file_waiting(open), most = bytes < waiting ? bytes : waiting;
	while (done < most) {
		const uint64_t rest = most - done, count = rest < CHUNK ? rest : CHUNK;
		program_may_be_runaway();
		file_peek(open, chunk, count);
		if (user_write(to + done, chunk, count))
			return done ? (long)done : -EFAULT;
		file_drop(open, count);
		done += count;
	}
	return (long)done;
}

/* To the command; or, while a table is shown, to it. */
static void output(uint64_t descriptor, const void *bytes, uint64_t count)
{
	if (console_is_open() && descriptor == OUTPUT)
		table_collect(bytes, count);
	else
		record_parts(RECORD_LAB_OUTPUT, &descriptor, sizeof(descriptor), bytes, (uint32_t)count);
}

void output_write(const void *bytes, uint64_t count)
{
	counters_stop();
	output(OUTPUT, bytes, count);
}

/* Writes what is in the chunk; how much of it, or -errno. */
static long write_chunk(struct open_file *open, uint64_t count)
{
	if (open->kind == FILE_OUTPUT) {
		output(open->descriptor, chunk, count);
		return (long)count;
	}
	if (!open->pipe->readers) {
		signal_send(SIGPIPE);
		return -EPIPE;
	}
	const uint64_t room = pipe_room(open->pipe);
	if (room >= count) {
		pipe_put(open->pipe, chunk, count);
		return (long)count;
	}
	if (!(open->flags & O_NONBLOCK))
		waits_for_ever("a write to a full pipe");
	if (!room || count <= WHOLE_BYTES)
		return -EAGAIN;
	pipe_put(open->pipe, chunk, room);
	return (long)room;
}

long call_write(word file, word from, word bytes)
{
	counters_stop();
	struct open_file *open = writable(file);
	uint64_t written = 0;

	if (!open)
		return -EBADF;
	if (!is_user_range(from, bytes))
		return -EFAULT;
	bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
	while (written < bytes) {
		const uint64_t rest = bytes - written, count = rest < CHUNK ? rest : CHUNK;
		program_may_be_runaway();
		if (user_read(chunk, from + written, count))
			return written ? (long)written : -EFAULT;
		const long now = write_chunk(open, count);
		if (now < 0)
			return written ? (long)written : now;
		written += (uint64_t)now;
		if ((uint64_t)now < count)
			break;
	}
	return (long)written;
}

struct vector {
	uint64_t at, bytes;
};

static long read_vector(word vectors, word index, unsigned word_bytes, struct vector *vector)
{
	const word at = vectors + index * 2 * word_bytes;

	*vector = (struct vector){0, 0};
	return user_read(&vector->at, at, word_bytes) ||
		       user_read(&vector->bytes, at + word_bytes, word_bytes)
		   ? -EFAULT
		   : 0;
}

/* All are checked before the first is used. */
static long check_vectors(word vectors, word count, unsigned word_bytes)
{
	const uint64_t negative = 1ull << (word_bytes * 8 - 1);
	struct vector vector;

	if (count > MAX_VECTORS)
		return -EINVAL;
	for (word i = 0; i < count; i++) {
		if (read_vector(vectors, i, word_bytes, &vector))
			return -EFAULT;
		if (vector.bytes & negative)
			return -EINVAL;
		if (!is_user_range(vector.at, vector.bytes))
			return -EFAULT;
	}
	return 0;
}

/* Inlined, so that no call is through a pointer (entry/steps/ibt.c). */
static inline __attribute__((always_inline)) long with_vectors(long (*call)(word, word, word), word file,
							       word vectors, word count, unsigned word_bytes)
{
	long sum = 0;
	const long problem = check_vectors(vectors, count, word_bytes);

	for (word i = 0; i < count && !problem; i++) {
		struct vector vector;
		const long done = read_vector(vectors, i, word_bytes, &vector)
				      ? -EFAULT
				      : call(file, vector.at, vector.bytes);
		if (done < 0)
			return sum ? sum : done;
		sum += done;
		/* What is not there yet must not be waited for. */
		if ((uint64_t)done < vector.bytes)
			return sum;
	}
	return problem ? problem : sum;
}

long call_writev(word file, word vectors, word count)
{
	return writable(file) ? with_vectors(call_write, file, vectors, count, 8) : -EBADF;
}

long call_writev_32(word file, word vectors, word count)
{
	return writable(file) ? with_vectors(call_write, file, vectors, count, 4) : -EBADF;
}

long call_readv(word file, word vectors, word count)
{
	return readable(file) ? with_vectors(call_read, file, vectors, count, 8) : -EBADF;
}

long call_readv_32(word file, word vectors, word count)
{
	return readable(file) ? with_vectors(call_read, file, vectors, count, 4) : -EBADF;
}

/* Pipes have no position. */
long call_pread(word file)
{
	return file_at(file) ? -ESPIPE : -EBADF;
}

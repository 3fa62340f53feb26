/* Files: standard output and error are the record stream, standard input is at its end, and there are no others. */
#include "cpu/counters.h"
#include "mm/mm.h"
#include "record.h"
#include "serial/serial.h"
#include "serial/console.h"
#include "user/calls.h"
#include "plan/table.h"
#include "user/user.h"

#define OUTPUT	    1
#define OUTPUTS	    3 /* 0, 1, 2 */
#define FIRST_PIPE  3
#define CHUNK	    16384
#define MAX_VECTORS 1024
#define MODE_PIPE   0x1000u
#define MODE_RIGHTS 0600u
#define BLOCK	    4096u
#define O_RDWR	    2

#define GET_FLAGS     3
#define AT_EMPTY_PATH 0x1000

static uint8_t chunk[CHUNK];
static int has_pipe;

void files_reset(void)
{
	has_pipe = 0;
}

static int is_open(word file)
{
	return file < OUTPUTS || (has_pipe && file < FIRST_PIPE + 2);
}

long call_read(word file, word to, word bytes)
{
	(void)to;
	(void)bytes;
	return is_open(file) ? 0 : -EBADF;
}

long call_write(word file, word from, word bytes)
{
	uint64_t written = 0;

	counters_stop();
	if (!is_open(file))
		return -EBADF;
	bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
	while (written < bytes) {
		const uint64_t rest = bytes - written, count = rest < CHUNK ? rest : CHUNK;
		program_may_be_runaway();
		if (user_read(chunk, from + written, count))
			return written ? (long)written : -EFAULT;
		/* Nobody ever reads from a pipe, so its data is dropped. */
		if (console_is_open() && file == OUTPUT)
			table_collect(chunk, count);
		else if (file < OUTPUTS)
			record_parts(RECORD_LAB_OUTPUT, &file, sizeof(file), chunk, (uint32_t)count);
		written += count;
	}
	return (long)written;
}

struct vector {
	uint64_t from, bytes;
};

static long write_vectors(word file, word vectors, word count, unsigned word_bytes)
{
	long sum = 0;

	if (count > MAX_VECTORS)
		return -EINVAL;
	for (word i = 0; i < count; i++) {
		struct vector vector = {0, 0};
		const word at = vectors + i * 2 * word_bytes;
		if (user_read(&vector.from, at, word_bytes) ||
		    user_read(&vector.bytes, at + word_bytes, word_bytes))
			return sum ? sum : -EFAULT;
		const long written = call_write(file, vector.from, vector.bytes);
		if (written < 0)
			return sum ? sum : written;
		sum += written;
		if ((uint64_t)written < vector.bytes)
			return sum;
	}
	return sum;
}

long call_writev(word file, word vectors, word count)
{
	return write_vectors(file, vectors, count, 8);
}

long call_writev_32(word file, word vectors, word count)
{
	return write_vectors(file, vectors, count, 4);
}

long call_no_file(void)
{
	return -ENOENT;
}

long call_open(word path)
{
	(void)path;
	return -ENOENT;
}

long call_close(word file)
{
	return is_open(file) ? 0 : -EBADF;
}

long call_pipe2(word to, word flags)
{
	(void)flags;
	has_pipe = 1;
	return user_put_8(to, FIRST_PIPE | (uint64_t)(FIRST_PIPE + 1) << 32);
}

long call_ioctl(word file)
{
	return is_open(file) ? -ENOTTY : -EBADF;
}

long call_fcntl(word file, word command)
{
	if (!is_open(file))
		return -EBADF;
	return command == GET_FLAGS ? O_RDWR : 0;
}

long call_lseek(word file)
{
	return is_open(file) ? -ESPIPE : -EBADF;
}

/* arch/x86/include/uapi/asm/stat.h; every open file is a pipe. */
long call_fstat(word file, word to)
{
	uint64_t stat[18] = {0};

	if (!is_open(file))
		return -EBADF;
	stat[2] = 1;			   /* st_nlink */
	stat[3] = MODE_PIPE | MODE_RIGHTS; /* st_mode */
	stat[7] = BLOCK;		   /* st_blksize */
	return user_write(to, stat, sizeof(stat));
}

long call_fstat_32(word file, word to)
{
	uint32_t stat[24] = {0};

	if (!is_open(file))
		return -EBADF;
	stat[4] = MODE_PIPE | MODE_RIGHTS;
	stat[5] = 1;
	stat[13] = BLOCK;
	return user_write(to, stat, sizeof(stat));
}

/* An empty path names the file itself. */
static int is_empty(word path, word flags)
{
	char first = 1;

	return flags & AT_EMPTY_PATH && !user_read(&first, path, 1) && !first;
}

long call_fstatat(word folder, word path, word to, word flags)
{
	return is_empty(path, flags) ? call_fstat(folder, to) : -ENOENT;
}

long call_fstatat_32(word folder, word path, word to, word flags)
{
	return is_empty(path, flags) ? call_fstat_32(folder, to) : -ENOENT;
}

/* include/uapi/linux/stat.h: mask, block size, attributes, links, owners, mode. */
long call_statx(word folder, word path, word flags, word mask, word to)
{
	uint32_t stat[64] = {0};

	(void)mask;
	if (!is_empty(path, flags))
		return -ENOENT;
	if (!is_open(folder))
		return -EBADF;
	stat[0] = 0x7; /* type, mode, links */
	stat[1] = BLOCK;
	stat[4] = 1;
	stat[7] = MODE_PIPE | MODE_RIGHTS;
	return user_write(to, stat, sizeof(stat));
}

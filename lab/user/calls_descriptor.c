/* Descriptors: closing, copying and asking about them. To a program each of them is a pipe. */
#include "mm/mm.h"
#include "user/calls.h"
#include "user/files.h"
#include "user/user.h"

#include <asm-generic/ioctls.h>
#include <linux/fcntl.h>

#define LARGEST_PIPE (1ul << 31)
#define LAST_WHENCE  4
/* What F_SETFL may change. */
#define CHANGEABLE   (O_APPEND | O_NONBLOCK | O_NOATIME | O_DIRECT)

long call_close(word file)
{
	if (!file_at(file))
		return -EBADF;
	file_close((uint32_t)file);
	return 0;
}

long call_dup(word file)
{
	struct open_file *open = file_at(file);

	return open ? file_open(open, 0, 0) : -EBADF;
}

long call_dup2(word file, word to)
{
	return file_at(file) && (uint32_t)file == (uint32_t)to ? (long)(uint32_t)to : call_dup3(file, to, 0);
}

long call_dup3(word file, word to, word flags)
{
	struct open_file *open = file_at(file);

	if ((uint32_t)flags & ~O_CLOEXEC || ((uint32_t)file == (uint32_t)to && open))
		return -EINVAL;
	if ((uint32_t)to >= DESCRIPTORS || !open)
		return -EBADF;
	file_place(open, (uint32_t)to, ((uint32_t)flags & O_CLOEXEC) != 0);
	return (uint32_t)to;
}

static long set_flags(struct open_file *open, word flags)
{
	/* A pipe takes O_DIRECT, and is no file that could have an owner who forbids O_NOATIME. */
	open->flags = (open->flags & ~(uint32_t)CHANGEABLE) | ((uint32_t)flags & CHANGEABLE);
	return 0;
}

long call_fcntl(word file, word command, word value)
{
	struct open_file *open = file_at(file);
	const int is_pipe = open && open->pipe;

	if (!open)
		return -EBADF;
	switch ((uint32_t)command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		if ((uint32_t)value >= DESCRIPTORS)
			return -EINVAL;
		return file_open(open, (uint32_t)value, (uint32_t)command == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return *file_close_on_exec((uint32_t)file);
	case F_SETFD:
		*file_close_on_exec((uint32_t)file) = value & FD_CLOEXEC;
		return 0;
	case F_GETFL:
		return open->flags;
	case F_SETFL:
		return set_flags(open, value);
	case F_GETPIPE_SZ:
		return PIPE_BYTES;
	case F_SETPIPE_SZ:
		/* Its size is fixed; Linux, too, may give more than was asked for. */
		if ((uint32_t)value > LARGEST_PIPE)
			return -EINVAL;
		return (uint32_t)value <= PIPE_BYTES ? (long)PIPE_BYTES : is_pipe ? -ENOMEM : -EPERM;
	default:
		return report_unknown_command("fcntl", (uint32_t)command);
	}
}

long call_pipe2(word to, word flags)
{
	struct open_file *ends[2];
	const uint32_t kept = (uint32_t)flags & (O_NONBLOCK | O_DIRECT);
	const int close_on_exec = ((uint32_t)flags & O_CLOEXEC) != 0;

	if ((uint32_t)flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	if (!file_new_pipe(ends, kept))
		return -ENFILE;
	const long out = file_open(ends[0], 0, close_on_exec);
	const long in = out < 0 ? out : file_open(ends[1], 0, close_on_exec);
	const long problem = in < 0 ? in : user_put_8(to, (uint64_t)out | (uint64_t)in << 32);
	if (!problem)
		return 0;
	if (out >= 0)
		file_close((unsigned)out);
	if (in >= 0)
		file_close((unsigned)in);
	ends[0]->pipe->readers = ends[0]->pipe->writers = 0;
	return problem;
}

long call_pipe(word to)
{
	return call_pipe2(to, 0);
}

long call_ioctl(word file, word command, word to)
{
	struct open_file *open = file_at(file);
	uint32_t on;

	if (!open)
		return -EBADF;
	switch ((uint32_t)command) {
	case FIOCLEX:
	case FIONCLEX:
		*file_close_on_exec((uint32_t)file) = (uint32_t)command == FIOCLEX;
		return 0;
	case FIONREAD:
		return user_put_4(to, (uint32_t)file_waiting(open));
	case FIONBIO:
		if (user_read(&on, to, sizeof(on)))
			return -EFAULT;
		return set_flags(open, (open->flags & ~(uint32_t)O_NONBLOCK) | (on ? O_NONBLOCK : 0));
	default:
		return -ENOTTY;
	}
}

static long seek(word file, word whence)
{
	if (!file_at(file))
		return -EBADF;
	return (uint32_t)whence > LAST_WHENCE ? -EINVAL : -ESPIPE;
}

long call_lseek(word file, word offset, word whence)
{
	(void)offset;
	return seek(file, whence);
}

long call_llseek(word file, word high, word low, word to, word whence)
{
	(void)high;
	(void)low;
	(void)to;
	return seek(file, whence);
}

/* Data is passed on inside of the kernel from files alone, and a pipe is none. */
long call_sendfile(word to, word from)
{
	return file_at(to) && file_at(from) ? -EINVAL : -EBADF;
}

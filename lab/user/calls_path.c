/* Calls that name a path. There are no files, but a wrong pointer or flag is answered as such. */
#include "mm/mm.h"
#include "user/calls.h"
#include "user/files.h"
#include "user/user.h"

#include <linux/fcntl.h>

#define LONGEST_PATH  4096
#define FSTATAT_FLAGS 0x7900u /* AT_EMPTY_PATH, AT_NO_AUTOMOUNT, AT_SYMLINK_NOFOLLOW, AT_STATX_* */
#define ACCESS_FLAGS  0x1300u /* AT_EMPTY_PATH, AT_EACCESS, AT_SYMLINK_NOFOLLOW */
#define ACCESS_MODES  7u

#define STATX_RESERVED 0x80000000u
#define STATX_SYNC     0x6000u

#define MODE_PIPE   0x1000u
#define MODE_RIGHTS 0600u
#define BLOCK	    4096u

/* Reads no more than a page at a time: what ends before a bad page is a path. Its length, or -errno. */
static long path_length(word path, int *is_absolute)
{
	char part[64];
	word length = 0;

	while (length < LONGEST_PATH) {
		const word at = path + length, rest = PAGE - at % PAGE;
		const word count = rest < sizeof(part) ? rest : sizeof(part);
		if (user_read(part, at, count))
			return -EFAULT;
		if (!length)
			*is_absolute = part[0] == '/';
		for (word i = 0; i < count; i++)
			if (!part[i])
				return (long)(length + i);
		length += count;
	}
	return -ENAMETOOLONG;
}

/* What looking a path up comes to: always an error. */
static long no_file(word folder, word path)
{
	int is_absolute = 0;
	const long length = path_length(path, &is_absolute);

	if (length < 0)
		return length;
	if (length >= LONGEST_PATH)
		return -ENAMETOOLONG;
	if (!length || is_absolute || (int32_t)folder == AT_FDCWD)
		return -ENOENT;
	return file_at(folder) ? -ENOTDIR : -EBADF;
}

long call_no_file(word path)
{
	return no_file((word)AT_FDCWD, path);
}

long call_no_file_at(word folder, word path)
{
	return no_file(folder, path);
}

/* A new file would have to be somewhere. */
static long no_new_file(long problem, word flags)
{
	return problem == -ENOENT && (uint32_t)flags & O_CREAT ? -EROFS : problem;
}

long call_open(word path, word flags)
{
	return no_new_file(call_no_file(path), flags);
}

long call_openat(word folder, word path, word flags)
{
	return no_new_file(no_file(folder, path), flags);
}

long call_access(word path, word mode)
{
	return (uint32_t)mode & ~ACCESS_MODES ? -EINVAL : call_no_file(path);
}

long call_faccessat(word folder, word path, word mode)
{
	return (uint32_t)mode & ~ACCESS_MODES ? -EINVAL : no_file(folder, path);
}

long call_faccessat2(word folder, word path, word mode, word flags)
{
	return (uint32_t)flags & ~ACCESS_FLAGS ? -EINVAL : call_faccessat(folder, path, mode);
}

long call_readlink(word path, word to, word bytes)
{
	(void)to;
	return (int32_t)bytes <= 0 ? -EINVAL : call_no_file(path);
}

long call_readlinkat(word folder, word path, word to, word bytes)
{
	(void)to;
	return (int32_t)bytes <= 0 ? -EINVAL : no_file(folder, path);
}

/* The root is the only folder. */
long call_getcwd(word to, word bytes)
{
	static const char root[] = "/";

	if (bytes < sizeof(root))
		return -ERANGE;
	return user_write(to, root, sizeof(root)) ? -EFAULT : (long)sizeof(root);
}

/* arch/x86/include/uapi/asm/stat.h; every open file is a pipe. */
long call_fstat(word file, word to)
{
	uint64_t stat[18] = {0};

	if (!file_at(file))
		return -EBADF;
	stat[2] = 1;			   /* st_nlink */
	stat[3] = MODE_PIPE | MODE_RIGHTS; /* st_mode */
	stat[7] = BLOCK;		   /* st_blksize */
	return user_write(to, stat, sizeof(stat));
}

long call_fstat_32(word file, word to)
{
	uint32_t stat[24] = {0};

	if (!file_at(file))
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

	return (uint32_t)flags & AT_EMPTY_PATH && !user_read(&first, path, 1) && !first;
}

long call_fstatat(word folder, word path, word to, word flags)
{
	if ((uint32_t)flags & ~FSTATAT_FLAGS)
		return -EINVAL;
	return is_empty(path, flags) ? call_fstat(folder, to) : no_file(folder, path);
}

long call_fstatat_32(word folder, word path, word to, word flags)
{
	if ((uint32_t)flags & ~FSTATAT_FLAGS)
		return -EINVAL;
	return is_empty(path, flags) ? call_fstat_32(folder, to) : no_file(folder, path);
}

/* include/uapi/linux/stat.h: mask, block size, attributes, links, owners, mode. */
long call_statx(word folder, word path, word flags, word mask, word to)
{
	uint32_t stat[64] = {0};

	if ((uint32_t)mask & STATX_RESERVED || ((uint32_t)flags & STATX_SYNC) == STATX_SYNC ||
	    (uint32_t)flags & ~FSTATAT_FLAGS)
		return -EINVAL;
	if (!is_empty(path, flags))
		return no_file(folder, path);
	if (!file_at(folder))
		return -EBADF;
	stat[0] = 0x7; /* type, mode, links */
	stat[1] = BLOCK;
	stat[4] = 1;
	stat[7] = MODE_PIPE | MODE_RIGHTS;
	return user_write(to, stat, sizeof(stat));
}

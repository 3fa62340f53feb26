/* The kernel's access to a program's memory. The paths in entry/user.S open and close SMAP; a fault there is -EFAULT. */
#include "entry/entry.h"
#include "mm/mm.h"

static int is_users(word address, word bytes)
{
	return address < user_end && bytes <= user_end - address;
}

long user_put_4(word to, uint32_t value)
{
	long (*const put)(word, uint32_t) = (void *)path_put_user_4;

	return is_users(to, sizeof(value)) ? put(to, value) : -EFAULT;
}

long user_put_8(word to, uint64_t value)
{
	long (*const put)(word, uint64_t) = (void *)path_put_user_8;

	return is_users(to, sizeof(value)) ? put(to, value) : -EFAULT;
}

long user_put_16(word to, uint64_t first, uint64_t second)
{
	long (*const put)(word, uint64_t, uint64_t) = (void *)path_put_user_16;

	return is_users(to, 16) ? put(to, first, second) : -EFAULT;
}

long user_write(word to, const void *from, word bytes)
{
	long (*const copy)(word, word, word) = (void *)path_copy_user;

	return is_users(to, bytes) ? copy(to, (word)from, bytes) : -EFAULT;
}

long user_read(void *to, word from, word bytes)
{
	long (*const copy)(word, word, word) = (void *)path_copy_user;

	return is_users(from, bytes) ? copy((word)to, from, bytes) : -EFAULT;
}

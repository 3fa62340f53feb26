/* The kernel's access to a program's memory. The paths in entry/user.S open and close SMAP; a fault there is -EFAULT. */
#include "entry/entry.h"
#include "mm/mm.h"

static int is_users(uint64_t address, uint64_t bytes)
{
	return address < user_end && bytes <= user_end - address;
}

long user_put_4(uint64_t to, uint32_t value)
{
	long (*const put)(uint64_t, uint32_t) = (void *)path_put_user_4;

	return is_users(to, sizeof(value)) ? put(to, value) : -EFAULT;
}

long user_put_8(uint64_t to, uint64_t value)
{
	long (*const put)(uint64_t, uint64_t) = (void *)path_put_user_8;

	return is_users(to, sizeof(value)) ? put(to, value) : -EFAULT;
}

long user_put_16(uint64_t to, uint64_t first, uint64_t second)
{
	long (*const put)(uint64_t, uint64_t, uint64_t) = (void *)path_put_user_16;

	return is_users(to, 16) ? put(to, first, second) : -EFAULT;
}

long user_write(uint64_t to, const void *from, uint64_t bytes)
{
	long (*const copy)(uint64_t, uint64_t, uint64_t) = (void *)path_copy_user;

	return is_users(to, bytes) ? copy(to, (uint64_t)from, bytes) : -EFAULT;
}

long user_read(void *to, uint64_t from, uint64_t bytes)
{
	long (*const copy)(uint64_t, uint64_t, uint64_t) = (void *)path_copy_user;

	return is_users(from, bytes) ? copy((uint64_t)to, from, bytes) : -EFAULT;
}

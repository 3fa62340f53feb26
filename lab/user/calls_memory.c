/* Memory. There are no files to map. */
#include "mm/mm.h"
#include "user/calls.h"

#define MAP_FIXED_ADDRESS   0x10
#define MAP_ANONYMOUS	    0x20
#define MAP_FIXED_NOREPLACE 0x100000
#define PROTECTIONS	    7

#define REMAP_MAY_MOVE 1
#define REMAP_FIXED    2

#define ADVICE_DONTNEED 4
#define ADVICE_HIGHEST	25

long call_brk(word to)
{
	return space_set_break(to);
}

long call_mmap(word address, word bytes, word protection, word flags, word file, word offset)
{
	(void)file;
	(void)offset;
	if (!(flags & MAP_ANONYMOUS))
		return -ENODEV;
	if (!bytes || bytes > space.end || protection & ~(word)PROTECTIONS)
		return -EINVAL;
	if (!(flags & (MAP_FIXED_ADDRESS | MAP_FIXED_NOREPLACE)))
		address = space_find(bytes);
	if (!address)
		return -ENOMEM;
	if (flags & MAP_FIXED_NOREPLACE && !space_is_free(address, bytes))
		return -EEXIST;
	const long problem = space_add(address, bytes, (unsigned)protection, (struct source){0});
	return problem ? problem : (long)address;
}

long call_munmap(word address, word bytes)
{
	return space_remove(address, bytes);
}

long call_mprotect(word address, word bytes, word protection)
{
	if (protection & ~(word)PROTECTIONS)
		return -EINVAL;
	return bytes ? space_protect(address, bytes, (unsigned)protection) : 0;
}

long call_mremap(word address, word bytes, word new_bytes, word flags, word new_address)
{
	(void)new_address;
	bytes = align_up(bytes, PAGE);
	new_bytes = align_up(new_bytes, PAGE);
	if (!bytes || !new_bytes || address & (PAGE - 1) || flags & REMAP_FIXED)
		return -EINVAL;
	if (!space_has(address, bytes))
		return space_has(address, PAGE) ? -EINVAL : -EFAULT;
	if (new_bytes <= bytes) {
		const long problem =
		    new_bytes < bytes ? space_remove(address + new_bytes, bytes - new_bytes) : 0;
		return problem ? problem : (long)address;
	}
	if (!(flags & REMAP_MAY_MOVE))
		return -ENOMEM;
	return space_move(address, bytes, new_bytes);
}

long call_madvise(word address, word bytes, word advice)
{
	if (advice > ADVICE_HIGHEST)
		return -EINVAL;
	return advice == ADVICE_DONTNEED && bytes ? space_forget(address, bytes) : 0;
}

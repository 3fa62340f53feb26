/* Memory. There are no files to map. */
#include "mm/mm.h"
#include "user/calls.h"
#include "user/files.h"

#define MAP_TYPE		 0xf
#define MAP_TYPE_SHARED		 1
#define MAP_TYPE_PRIVATE	 2
#define MAP_TYPE_SHARED_VALIDATE 3
#define MAP_FIXED_ADDRESS	 0x10
#define MAP_ANONYMOUS		 0x20
#define MAP_BELOW_2_GIB		 0x40 /* of 64-bit programs */
#define MAP_GROWSDOWN		 0x100
#define MAP_HUGETLB		 0x40000
#define MAP_FIXED_NOREPLACE	 0x100000
#define PROTECTIONS		 7u
#define PROTECT_SEMAPHORE	 8u
#define PROTECT_GROWS		 0x03000000u /* PROT_GROWSDOWN, PROT_GROWSUP */

/* Where Linux looks for room that 32 bits can address. */
#define BELOW_2_GIB_START 0x40000000ul
#define BELOW_2_GIB_END	  0x80000000ul

#define REMAP_MAY_MOVE 1u
#define REMAP_FIXED    2u

#define ADVICE_DONTNEED	       4
#define ADVICE_DONTNEED_LOCKED 24
/* Bit per advice that means nothing here, or nothing yet: all of Linux 6.1 but REMOVE and COLLAPSE, which need files. */
#define ADVICES		       0x01fffd1ful

static unsigned protection_of(word protection)
{
	const unsigned wanted = (unsigned)protection & PROTECTIONS;

	return wanted & PROTECT_READ && space->read_implies_execute ? wanted | PROTECT_EXECUTE : wanted;
}

long call_brk(word to)
{
	return space_set_break(to);
}

/* An address for a mapping that may be anywhere: the one that was asked for, if it is free. 0 when there is none. */
static uint64_t room_for(word hint, word bytes, word flags)
{
	const uint64_t at = hint & ~(PAGE - 1);

	if (at && at < space->end && bytes <= space->end - at && space_is_free(at, bytes))
		return at;
	if (flags & MAP_BELOW_2_GIB && space->bits == 64)
		return space_find_in(bytes, BELOW_2_GIB_START, BELOW_2_GIB_END);
	return space_find(bytes);
}

/* Files are pipes, which nobody maps. */
static long map_file(const struct open_file *file, word type, word protection)
{
	const int is_readable = file->kind == FILE_INPUT || file->kind == FILE_PIPE_OUT;
	const int is_shared = type == MAP_TYPE_SHARED || type == MAP_TYPE_SHARED_VALIDATE;

	if (type != MAP_TYPE_PRIVATE && !is_shared)
		return -EINVAL;
	return is_readable && !(is_shared && protection & PROTECT_WRITE) ? -ENODEV : -EACCES;
}

/* In the order in which Linux looks at the arguments (mm/mmap.c, do_mmap). */
long call_mmap(word address, word bytes, word protection, word flags, word file)
{
	const word rounded = align_up(bytes, PAGE), type = flags & MAP_TYPE;
	const int is_fixed = (flags & (MAP_FIXED_ADDRESS | MAP_FIXED_NOREPLACE)) != 0;

	if (!(flags & MAP_ANONYMOUS) && !file_at(file))
		return -EBADF;
	if (!bytes)
		return -EINVAL;
	if (!rounded || rounded > space->end || flags & MAP_HUGETLB)
		return -ENOMEM;
	if (is_fixed && address > space->end - rounded)
		return -ENOMEM;
	if (is_fixed && address % PAGE)
		return -EINVAL;
	const word at = is_fixed ? address : room_for(address, rounded, flags);
	/* Address 0, too, if it is asked for: 8086 programs have a table there, and this kernel trusts no null pointer. */
	if (!at && !is_fixed)
		return -ENOMEM;
	if (flags & MAP_FIXED_NOREPLACE && !space_is_free(at, rounded))
		return -EEXIST;
	if (!(flags & MAP_ANONYMOUS))
		return map_file(file_at(file), type, protection);
	if (type != MAP_TYPE_PRIVATE && (type != MAP_TYPE_SHARED || flags & MAP_GROWSDOWN))
		return -EINVAL;
	const long problem = space_add(at, rounded, protection_of(protection), (struct source){0});
	return problem ? problem : (long)at;
}

/* x86-64's mmap counts the offset in bytes, i386's mmap2 in pages. */
long call_mmap_64(word address, word bytes, word protection, word flags, word file, word offset)
{
	return offset % PAGE ? -EINVAL : call_mmap(address, bytes, protection, flags, file);
}

long call_munmap(word address, word bytes)
{
	return space_remove(address, bytes);
}

long call_mprotect(word address, word bytes, word protection)
{
	const word rounded = align_up(bytes, PAGE);

	/* No area grows. */
	if (protection & PROTECT_GROWS || address % PAGE)
		return -EINVAL;
	if (!bytes)
		return 0;
	if (!rounded || address + rounded <= address)
		return -ENOMEM;
	if (protection & ~(word)(PROTECTIONS | PROTECT_SEMAPHORE))
		return -EINVAL;
	return space_protect(address, rounded, protection_of(protection));
}

/* Makes an area longer where it is; 0 if there is no room. */
static int grows_in_place(word address, word bytes, word new_bytes)
{
	const word end = address + bytes, more = new_bytes - bytes;
	const int protection = space_protection(address);

	return end < space->end && more <= space->end - end && space_is_free(end, more) &&
	       !space_add(end, more, (unsigned)protection, (struct source){0});
}

/* To an address that the program chose, where everything is replaced. */
static long remap_to(word address, word bytes, word new_bytes, word to)
{
	if (to % PAGE || new_bytes > space->end || to > space->end - new_bytes ||
	    (address + bytes > to && to + new_bytes > address))
		return -EINVAL;
	if (new_bytes < bytes) {
		const long problem = space_remove(address + new_bytes, bytes - new_bytes);
		if (problem)
			return problem;
		bytes = new_bytes;
	}
	return space_move(address, bytes, to, new_bytes);
}

long call_mremap(word address, word bytes, word new_bytes, word flags, word new_address)
{
	const uint32_t wanted = (uint32_t)flags;

	/* DONTUNMAP (4) is not served. */
	if (wanted & ~(REMAP_MAY_MOVE | REMAP_FIXED) ||
	    (wanted & REMAP_FIXED && !(wanted & REMAP_MAY_MOVE)) || address % PAGE)
		return -EINVAL;
	bytes = align_up(bytes, PAGE);
	new_bytes = align_up(new_bytes, PAGE);
	if (!new_bytes)
		return -EINVAL;
	if (space_protection(address) < 0)
		return -EFAULT;
	if (wanted & REMAP_FIXED)
		return remap_to(address, bytes, new_bytes, new_address);
	if (new_bytes <= bytes) {
		const long problem =
		    new_bytes < bytes ? space_remove(address + new_bytes, bytes - new_bytes) : 0;
		return problem ? problem : (long)address;
	}
	if (!bytes)
		return -EINVAL;
	if (!space_is_movable(address, bytes))
		return -EFAULT;
	if (grows_in_place(address, bytes, new_bytes))
		return (long)address;
	if (!(wanted & REMAP_MAY_MOVE))
		return -ENOMEM;
	const uint64_t to = space_find(new_bytes);
	return to ? space_move(address, bytes, to, new_bytes) : -ENOMEM;
}

long call_madvise(word address, word bytes, word advice)
{
	const uint32_t which = (uint32_t)advice;
	const word rounded = align_up(bytes, PAGE);

	if (which >= 64 || !(ADVICES >> which & 1) || address % PAGE || (bytes && !rounded) ||
	    address + rounded < address)
		return -EINVAL;
	if (!rounded)
		return 0;
	if (which == ADVICE_DONTNEED || which == ADVICE_DONTNEED_LOCKED)
		space_forget(address, rounded);
	return space_is_whole(address, rounded) ? 0 : -ENOMEM;
}

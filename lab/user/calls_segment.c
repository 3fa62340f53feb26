/* Bases of the segments FS and GS: thread pointers of programs. */
#include "cpu/cpu.h"
#include "cpu/segments.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"
#include "user/calls.h"

#define ARCH_SET_GS    0x1001
#define ARCH_SET_FS    0x1002
#define ARCH_GET_FS    0x1003
#define ARCH_GET_GS    0x1004
#define ARCH_GET_CPUID 0x1011
#define ARCH_SET_CPUID 0x1012

/* Whether programs may execute cpuid: always. */
static long cpuid_faulting(uint32_t code)
{
	return code == ARCH_GET_CPUID ? 1 : code == ARCH_SET_CPUID ? -ENODEV : -EINVAL;
}

long call_arch_prctl(word code, word address)
{
	const uint32_t which = (uint32_t)code;

	switch (which) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		if (address >= space->end)
			return -EPERM;
		if (which == ARCH_SET_FS)
			wrmsr(MSR_FS_BASE, address);
		else
			gs_set_base(address);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		return user_put_8(address, which == ARCH_GET_FS ? rdmsr(MSR_FS_BASE) : gs_base());
	default:
		return cpuid_faulting(which);
	}
}

/* 32-bit code has its thread pointer in a segment, whose base this call must not touch. */
long call_arch_prctl_32(word code)
{
	return cpuid_faulting((uint32_t)code);
}

/* include/asm/ldt.h: struct user_desc. */
struct user_descriptor {
	uint32_t number, base, limit, flags;
};
#define FLAG_32BIT	    0x01u
#define FLAG_CONTENTS_SHIFT 1
#define FLAG_READ_ONLY	    0x08u
#define FLAG_PAGES	    0x10u
#define FLAG_NOT_PRESENT    0x20u
#define FLAG_USEABLE	    0x40u
#define FLAGS		    0x7fu

#define CONTENTS_STACK 1 /* expands down */

/* What the fields of an empty entry look like: as documented, or all zero but for the number. */
static int is_empty(const struct user_descriptor *from)
{
	const uint32_t flags = from->flags & FLAGS;

	return !from->base && !from->limit && (!flags || flags == (FLAG_READ_ONLY | FLAG_NOT_PRESENT));
}

/* SDM vol. 3, 3.4.5: data, accessed, DPL 3. */
static uint64_t descriptor_of(const struct user_descriptor *from)
{
	const uint64_t contents = from->flags >> FLAG_CONTENTS_SHIFT & 3;
	const uint64_t type = 0xf1 | (from->flags & FLAG_READ_ONLY ? 0 : 2) | contents << 2;
	const uint64_t size = (from->flags & FLAG_USEABLE ? 1 : 0) | (from->flags & FLAG_32BIT ? 4 : 0) |
			      (from->flags & FLAG_PAGES ? 8 : 0);

	if (is_empty(from))
		return 0;
	return (from->limit & 0xffff) | (uint64_t)(from->base & 0xffffff) << 16 | type << 40 |
	       (uint64_t)(from->limit >> 16 & 0xf) << 48 | size << 52 | (uint64_t)(from->base >> 24) << 56;
}

/*
 * As on Linux: no code segments, and no 16-bit stacks, with which iret leaks half of the kernel's stack pointer to the
 * program (the one that there is, espfix knows: entry/steps/espfix.S); and none that is not present, unless it is to be empty.
 */
static int is_acceptable(const struct user_descriptor *from)
{
	return is_empty(from) || (from->flags & FLAG_32BIT && !(from->flags & FLAG_NOT_PRESENT) &&
				  (from->flags >> FLAG_CONTENTS_SHIFT & 3) <= CONTENTS_STACK);
}

/*
 * Segment registers that hold the selector, with whatever RPL, are loaded anew, because the processor keeps the old descriptor. One that were left
 * with a descriptor that has gone could not be loaded when the thread goes on (cpu/segments.h).
 */
#define HELD(segment)                                                                                        \
	({                                                                                                   \
		uint32_t held;                                                                               \
		__asm__ volatile("mov %%" #segment ", %0" : "=r"(held));                                     \
		held & 0xffff;                                                                               \
	})
#define HOLDS(segment) ((HELD(segment) | SELECTOR_RING) == selector)
#define RELOAD(segment)                                                                                      \
	do {                                                                                                 \
		if (HOLDS(segment))                                                                          \
			__asm__ volatile("mov %0, %%" #segment : : "r"(descriptor ? HELD(segment) : 0));     \
	} while (0)

static void set_entry(unsigned index, uint64_t descriptor)
{
	const uint32_t selector = SELECTOR_TLS + index * 8;

	tables_set_tls(index, descriptor);
	RELOAD(ds);
	RELOAD(es);
	RELOAD(fs);
	if (HOLDS(gs))
		gs_load(descriptor ? (uint16_t)HELD(gs) : 0);
}

long call_set_thread_area(word descriptor)
{
	const uint32_t first = SELECTOR_TLS / 8;
	struct user_descriptor from;

	if (user_read(&from, descriptor, sizeof(from)))
		return -EFAULT;
	if (!is_acceptable(&from))
		return -EINVAL;
	if (from.number == ~0u) {
		from.number = first;
		while (from.number < first + TLS_ENTRIES && tables_tls(from.number - first))
			from.number++;
		if (from.number == first + TLS_ENTRIES)
			return -ESRCH;
		if (user_put_4(descriptor, from.number))
			return -EFAULT;
	}
	uint64_t entry = descriptor_of(&from);
	if (from.number < first || from.number >= first + TLS_ENTRIES || !limits_fit(&entry))
		return -EINVAL;
	set_entry(from.number - first, entry);
	return 0;
}

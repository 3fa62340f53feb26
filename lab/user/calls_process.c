/* The process, its limits, its thread's segment. */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "mm/mm.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/user.h"

#define UNLIMITED    (~0ull)
#define RLIMIT_STACK 3
#define STACK_LIMIT  (8ull << 20)

#define FUTEX_WAIT	  0
#define FUTEX_WAKE	  1
#define FUTEX_COMMAND	  0x7f
#define FUTEX_WAIT_BITSET 9

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

#define RANDOM_CHUNK 256

long call_exit(word status)
{
	program_ends((struct end){LAB_END_EXITED, {status & 0xff}});
}

long call_getpid(void)
{
	return LAB_PID;
}

long call_getppid(void)
{
	return LAB_PARENT;
}

long call_zero(void)
{
	return 0;
}

long call_getcpu(word cpu_to, word node_to)
{
	if (cpu_to && user_put_4(cpu_to, LAB_CPU))
		return -EFAULT;
	return node_to ? user_put_4(node_to, 0) : 0;
}

long call_getrandom(word to, word bytes, word flags)
{
	uint64_t chunk[RANDOM_CHUNK / 8];

	(void)flags;
	bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
	for (word done = 0; done < bytes;) {
		program_may_be_runaway();
		const word count = bytes - done < RANDOM_CHUNK ? bytes - done : RANDOM_CHUNK;
		for (word i = 0; i * 8 < count; i++)
			chunk[i] = random_next();
		if (user_write(to + done, chunk, count))
			return done ? (long)done : -EFAULT;
		done += count;
	}
	return (long)bytes;
}

/* struct rusage in words: user time, system time, 14 counters, of which the fifth is minor faults. */
#define RUSAGE_WORDS  18
#define RUSAGE_MINFLT 8

static void fill_usage(uint64_t usage[RUSAGE_WORDS])
{
	struct time_value time;

	clock_read(CLOCK_PROCESS_CPU, &time);
	usage[0] = time.seconds;
	usage[1] = time_microseconds(time.nanoseconds);
	usage[RUSAGE_MINFLT] = space.minor_faults;
}

long call_getrusage(word who, word to)
{
	uint64_t usage[RUSAGE_WORDS] = {0};

	(void)who;
	fill_usage(usage);
	return user_write(to, usage, sizeof(usage));
}

long call_getrusage_32(word who, word to)
{
	uint64_t usage[RUSAGE_WORDS] = {0};
	uint32_t narrow[RUSAGE_WORDS];

	(void)who;
	fill_usage(usage);
	for (unsigned i = 0; i < RUSAGE_WORDS; i++)
		narrow[i] = (uint32_t)usage[i];
	return user_write(to, narrow, sizeof(narrow));
}

static uint64_t limit_of(word resource)
{
	return resource == RLIMIT_STACK ? STACK_LIMIT : UNLIMITED;
}

long call_prlimit(word process, word resource, word new_limit, word old_limit)
{
	if (process && process != LAB_PID)
		return -EINVAL;
	if (new_limit)
		return -EPERM;
	return old_limit ? user_put_16(old_limit, limit_of(resource), limit_of(resource)) : 0;
}

long call_getrlimit(word resource, word to)
{
	return user_put_16(to, limit_of(resource), limit_of(resource));
}

long call_getrlimit_32(word resource, word to)
{
	const uint32_t limit = (uint32_t)limit_of(resource);

	return user_put_8(to, limit | (uint64_t)limit << 32);
}

/* Six fields of 65 bytes. The release is that of the Linux with these calls; C libraries demand a minimum. */
long call_uname(word to)
{
	static const char fields[6][65] = {"Linux",  "lab",   "6.1.0-kentry-lab", "kentry's lab kernel",
					   "x86_64", "(none)"};

	return user_write(to, fields, sizeof(fields));
}

/* struct sysinfo: uptime, three loads, total and free memory, …, processes, …, unit. */
long call_sysinfo(word to)
{
	uint64_t info[14] = {0};

	info[4] = info[5] = pages_left();
	info[10] = 1;
	info[13] = 1;
	return user_write(to, info, sizeof(info));
}

long call_sysinfo_32(word to)
{
	uint32_t info[16] = {0};

	info[4] = info[5] = (uint32_t)pages_left();
	info[10] = 1;
	info[13] = 1;
	return user_write(to, info, sizeof(info));
}

long call_sched_getaffinity(word process, word bytes, word to)
{
	const uint64_t mask = 1u << LAB_CPU, size = (uint64_t)space.bits / 8;

	(void)process;
	if (bytes < size)
		return -EINVAL;
	return user_write(to, &mask, size) ? -EFAULT : (long)size;
}

/* There is only one thread: it has nobody to wake, and would wait for ever. */
long call_futex(word address, word operation, word value)
{
	(void)address;
	(void)value;
	switch (operation & FUTEX_COMMAND) {
	case FUTEX_WAKE:
		return 0;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return -EAGAIN;
	default:
		return -ENOSYS;
	}
}

/* Two words that tell on which CPU the thread runs. It never moves, and is never preempted. */
long call_rseq(word area, word bytes, word flags, word signature)
{
	(void)bytes;
	(void)flags;
	(void)signature;
	return user_put_8(area, LAB_CPU | (uint64_t)LAB_CPU << 32);
}

long call_arch_prctl(word code, word address)
{
	const uint32_t msr = code == ARCH_SET_FS || code == ARCH_GET_FS ? MSR_FS_BASE : MSR_GS_BASE;

	switch (code) {
	case ARCH_SET_FS:
	case ARCH_SET_GS:
		if (address >= space.end)
			return -EPERM;
		wrmsr(msr, address);
		return 0;
	case ARCH_GET_FS:
	case ARCH_GET_GS:
		return user_put_8(address, rdmsr(msr));
	default:
		return -EINVAL;
	}
}

/* include/asm/ldt.h: struct user_desc. */
struct user_descriptor {
	uint32_t number, base, limit, flags;
};
#define FLAG_32BIT	    0x01
#define FLAG_CONTENTS_SHIFT 1
#define FLAG_READ_ONLY	    0x08
#define FLAG_PAGES	    0x10
#define FLAG_NOT_PRESENT    0x20

/* SDM vol. 3, 3.4.5: data, accessed, DPL 3. */
static uint64_t descriptor_of(const struct user_descriptor *from)
{
	const uint64_t type = 0xf1 | (from->flags & FLAG_READ_ONLY ? 0 : 2);
	const uint64_t size = (from->flags & FLAG_32BIT ? 4 : 0) | (from->flags & FLAG_PAGES ? 8 : 0);

	return (from->limit & 0xffff) | (uint64_t)(from->base & 0xffffff) << 16 | type << 40 |
	       (uint64_t)(from->limit >> 16 & 0xf) << 48 | size << 52 | (uint64_t)(from->base >> 24) << 56;
}

/*
 * As on Linux: no code segments, and no 16-bit stacks, with which iret leaks half of the kernel's stack pointer to the
 * program. A segment that is not present counts as empty.
 */
static int is_acceptable(uint32_t flags)
{
	return flags & FLAG_NOT_PRESENT || (flags & FLAG_32BIT && !(flags >> FLAG_CONTENTS_SHIFT & 3));
}

long call_set_thread_area(word descriptor)
{
	const uint32_t first = SELECTOR_TLS / 8;
	struct user_descriptor from;

	if (user_read(&from, descriptor, sizeof(from)))
		return -EFAULT;
	if (!is_acceptable(from.flags))
		return -EINVAL;
	if (from.number == ~0u) {
		from.number = first;
		while (from.number < first + TLS_ENTRIES && !tables_tls_is_free(from.number - first))
			from.number++;
		if (from.number == first + TLS_ENTRIES)
			return -ESRCH;
		if (user_put_4(descriptor, from.number))
			return -EFAULT;
	}
	if (from.number < first || from.number >= first + TLS_ENTRIES)
		return -EINVAL;
	tables_set_tls(from.number - first, from.flags & FLAG_NOT_PRESENT ? 0 : descriptor_of(&from));
	return 0;
}

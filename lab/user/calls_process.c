/* The process: who it is, and what it may know. */
#include "mm/mm.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define USAGE_SELF     0
#define USAGE_CHILDREN -1
#define USAGE_THREAD   1

/* What getrandom knows: GRND_NONBLOCK, GRND_RANDOM, GRND_INSECURE; the last two exclude each other. */
#define RANDOM_FLAGS	 7u
#define RANDOM_EXCLUSIVE 6u
#define MOST_RANDOM	 0x7ffffffful

#define RANDOM_CHUNK 256

long call_exit(word status)
{
	program_ends((struct end){LAB_END_EXITED, {status & 0xff}});
}

long call_getpid(void)
{
	return current->id;
}

long call_getppid(void)
{
	return LAB_PARENT;
}

long call_zero(void)
{
	return 0;
}

/* getresuid, getresgid */
long call_three_zeroes(word first, word second, word third)
{
	return user_put_4(first, 0) || user_put_4(second, 0) || user_put_4(third, 0) ? -EFAULT : 0;
}

/* Each process is a group of its own. */
long call_getpgid(word process)
{
	return !(uint32_t)process || (uint32_t)process == current->id ? (long)current->id : -ESRCH;
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

	if ((uint32_t)flags & ~RANDOM_FLAGS || ((uint32_t)flags & RANDOM_EXCLUSIVE) == RANDOM_EXCLUSIVE)
		return -EINVAL;
	bytes = bytes < MOST_RANDOM ? bytes : MOST_RANDOM;
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
#define RUSAGE_WORDS	18
#define RUSAGE_MINFLT	8
#define RUSAGE_NSIGNALS 15 /* here: interrupts that the program has raised; Linux leaves it 0 */
#define RUSAGE_NVCSW	16 /* switches of address spaces that it has asked for */

/* 0 or -EINVAL; there are no children. */
static long fill_usage(word who, uint64_t usage[RUSAGE_WORDS])
{
	const int32_t whose = (int32_t)who;
	struct time_value time;

	if (whose == USAGE_CHILDREN)
		return 0;
	if (whose != USAGE_SELF && whose != USAGE_THREAD)
		return -EINVAL;
	clock_read(CLOCK_PROCESS_CPU, &time);
	usage[0] = time.seconds;
	usage[1] = time_microseconds(time.nanoseconds);
	usage[RUSAGE_MINFLT] = space->minor_faults;
	usage[RUSAGE_NSIGNALS] = current->interrupts;
	usage[RUSAGE_NVCSW] = current->switches;
	return 0;
}

long call_getrusage(word who, word to)
{
	uint64_t usage[RUSAGE_WORDS] = {0};
	const long problem = fill_usage(who, usage);

	return problem ? problem : user_write(to, usage, sizeof(usage));
}

long call_getrusage_32(word who, word to)
{
	uint64_t usage[RUSAGE_WORDS] = {0};
	uint32_t narrow[RUSAGE_WORDS];

	const long problem = fill_usage(who, usage);

	for (unsigned i = 0; i < RUSAGE_WORDS; i++)
		narrow[i] = (uint32_t)usage[i];
	return problem ? problem : user_write(to, narrow, sizeof(narrow));
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

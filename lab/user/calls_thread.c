/* A thread: where it runs, what it waits for, its settings. */
#include "entry/entry.h"
#include "mach/start.h"
#include "mm/mm.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define FUTEX_WAIT	     0
#define FUTEX_WAKE	     1
#define FUTEX_REQUEUE	     3
#define FUTEX_CMP_REQUEUE    4
#define FUTEX_WAIT_BITSET    9
#define FUTEX_WAKE_BITSET    10
#define FUTEX_PRIVATE	     0x80u
#define FUTEX_CLOCK_REALTIME 0x100u
#define FUTEX_COMMAND	     0x7fu
#define FUTEX_ALIGNMENT	     4

#define ROBUST_LIST_BYTES_64 24
#define ROBUST_LIST_BYTES_32 12

#define RSEQ_BYTES	 32
#define RSEQ_UNREGISTER	 1u
#define RSEQ_CPU_UNKNOWN 0xffffffffu

void settings_reset(struct settings *settings, const char *name)
{
	settings->dumpable = 1;
	for (unsigned i = 0; i < NAME_BYTES - 1 && name[i]; i++)
		settings->name[i] = name[i];
}

/* To the next program that runs together with this one, if there is any. */
long call_sched_yield(void)
{
	if (current->personality == PERSONALITY_MACH) {
		wait_yield();
		return 0;
	}
	struct thread *const next = thread_next();
	if (next)
		thread_run(next);
	return 0;
}

static int is_this(word process)
{
	return !(uint32_t)process || (uint32_t)process == current->id;
}

long call_sched_getaffinity(word process, word bytes, word to)
{
	const uint64_t mask = 1u << LAB_CPU, size = (uint64_t)space->bits / 8;

	if ((uint32_t)bytes < size || (uint32_t)bytes % size)
		return -EINVAL;
	if (!is_this(process))
		return -ESRCH;
	return user_write(to, &mask, size) ? -EFAULT : (long)size;
}

/* A set of CPUs must contain the one that there is. */
long call_sched_setaffinity(word process, word bytes, word from)
{
	uint64_t mask = 0;

	if (user_read(&mask, from, (uint32_t)bytes < sizeof(mask) ? (uint32_t)bytes : sizeof(mask)))
		return -EFAULT;
	if (!is_this(process))
		return -ESRCH;
	return mask & 1u << LAB_CPU ? 0 : -EINVAL;
}

/* 0, or what is wrong with a futex's address. Only a shared one must be there to be found. */
static long check_futex(word address, word operation)
{
	uint32_t value;

	if (address % FUTEX_ALIGNMENT)
		return -EINVAL;
	if (address > space->end - sizeof(value))
		return -EFAULT;
	return (uint32_t)operation & FUTEX_PRIVATE ? 0 : user_read(&value, address, sizeof(value));
}

/* Nobody wakes the only thread: with a timeout it waits for that, without one for ever. */
static long futex_wait(word address, word operation, word value, const struct time_value *timeout)
{
	const int is_absolute = ((uint32_t)operation & FUTEX_COMMAND) == FUTEX_WAIT_BITSET;
	const int is_realtime = ((uint32_t)operation & FUTEX_CLOCK_REALTIME) != 0;
	const long problem = check_futex(address, operation);
	uint32_t found;

	if (problem)
		return problem;
	if (user_read(&found, address, sizeof(found)))
		return -EFAULT;
	if (found != (uint32_t)value)
		return -EAGAIN;
	if (!timeout)
		waits_for_ever("a wait for a futex (a lock that is held, or a thread that is not there)");
	time_wait(is_realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, *timeout, is_absolute);
	return -ETIMEDOUT;
}

static long requeue(word address, word operation, word to, word expected)
{
	long problem = check_futex(address, operation);
	uint32_t found;

	problem = problem ? problem : check_futex(to, operation);
	if (problem || ((uint32_t)operation & FUTEX_COMMAND) == FUTEX_REQUEUE)
		return problem;
	if (user_read(&found, address, sizeof(found)))
		return -EFAULT;
	return found == (uint32_t)expected ? 0 : -EAGAIN;
}

static long futex(word address, word operation, word value, const struct time_value *timeout, word second,
		  word third)
{
	const uint32_t command = (uint32_t)operation & FUTEX_COMMAND;

	if ((uint32_t)operation & FUTEX_CLOCK_REALTIME && command != FUTEX_WAIT_BITSET)
		return -ENOSYS;
	switch (command) {
	case FUTEX_WAIT:
		return futex_wait(address, operation, value, timeout);
	case FUTEX_WAIT_BITSET:
		return (uint32_t)third ? futex_wait(address, operation, value, timeout) : -EINVAL;
	case FUTEX_WAKE:
		return check_futex(address, operation);
	case FUTEX_WAKE_BITSET:
		return (uint32_t)third ? check_futex(address, operation) : -EINVAL;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return requeue(address, operation, second, third);
	default:
		return -ENOSYS;
	}
}

static int has_timeout(word operation)
{
	const uint32_t command = (uint32_t)operation & FUTEX_COMMAND;

	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

static long futex_with_time(word address, word operation, word value, word time_at, word second, word third,
			    int is_wide)
{
	struct time_value time;
	const int is_timed = time_at && has_timeout(operation);
	const long problem = is_timed ? time_read_from(time_at, is_wide, &time) : 0;

	return problem ? problem : futex(address, operation, value, is_timed ? &time : 0, second, third);
}

long call_futex(word address, word operation, word value, word time, word second, word third)
{
	return futex_with_time(address, operation, value, time, second, third, 1);
}

long call_futex_32(word address, word operation, word value, word time, word second, word third)
{
	return futex_with_time(address, operation, value, time, second, third, 0);
}

/* The list tells the kernel which locks to release when the thread ends: nobody is left to take them. */
long call_set_robust_list(word list, word bytes)
{
	(void)list;
	return bytes == ROBUST_LIST_BYTES_64 ? 0 : -EINVAL;
}

long call_set_robust_list_32(word list, word bytes)
{
	(void)list;
	return bytes == ROBUST_LIST_BYTES_32 ? 0 : -EINVAL;
}

static long rseq_unregister(word area, uint32_t bytes, uint32_t signature)
{
	if (!current->settings.rseq || current->settings.rseq != area ||
	    current->settings.rseq_bytes != bytes)
		return -EINVAL;
	if (current->settings.rseq_signature != signature)
		return -EPERM;
	if (user_put_8(area, (uint64_t)RSEQ_CPU_UNKNOWN << 32))
		return -EFAULT;
	current->settings.rseq = 0;
	return 0;
}

/* Two words that tell on which CPU the thread runs. It never moves, and is never preempted. */
long call_rseq(word area, word bytes, word flags, word signature)
{
	if ((uint32_t)flags == RSEQ_UNREGISTER)
		return rseq_unregister(area, (uint32_t)bytes, (uint32_t)signature);
	if ((uint32_t)flags)
		return -EINVAL;
	if (current->settings.rseq) {
		if (current->settings.rseq != area || current->settings.rseq_bytes != (uint32_t)bytes)
			return -EINVAL;
		return current->settings.rseq_signature == (uint32_t)signature ? -EBUSY : -EPERM;
	}
	if ((uint32_t)bytes < RSEQ_BYTES || area % RSEQ_BYTES)
		return -EINVAL;
	if (user_put_8(area, LAB_CPU | (uint64_t)LAB_CPU << 32))
		return -EFAULT;
	current->settings.rseq = area;
	current->settings.rseq_bytes = (uint32_t)bytes;
	current->settings.rseq_signature = (uint32_t)signature;
	return 0;
}

#define PR_SET_PDEATHSIG    1
#define PR_GET_PDEATHSIG    2
#define PR_GET_DUMPABLE	    3
#define PR_SET_DUMPABLE	    4
#define PR_SET_NAME	    15
#define PR_GET_NAME	    16
#define PR_GET_SECCOMP	    21
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39

static long set_name(word from)
{
	char name[NAME_BYTES] = {0};

	/* It ends at the first NUL, behind which nothing need be there. */
	for (unsigned i = 0; i < NAME_BYTES - 1; i++) {
		if (user_read(&name[i], from + i, 1))
			return -EFAULT;
		if (!name[i])
			break;
	}
	__builtin_memcpy(current->settings.name, name, sizeof(name));
	return 0;
}

long call_prctl(word option, word first, word second, word third, word fourth)
{
	switch ((uint32_t)option) {
	case PR_SET_NAME:
		return set_name(first);
	case PR_GET_NAME:
		return user_write(first, current->settings.name, sizeof(current->settings.name));
	case PR_SET_DUMPABLE:
		if (first > 1)
			return -EINVAL;
		current->settings.dumpable = (uint32_t)first;
		return 0;
	case PR_GET_DUMPABLE:
		return current->settings.dumpable;
	case PR_SET_PDEATHSIG:
		if (first > LAST_SIGNAL)
			return -EINVAL;
		current->settings.death_signal = (uint32_t)first;
		return 0;
	case PR_GET_PDEATHSIG:
		return user_put_4(first, current->settings.death_signal);
	case PR_GET_SECCOMP:
		return 0;
	case PR_SET_NO_NEW_PRIVS:
		if (first != 1 || second || third || fourth)
			return -EINVAL;
		current->settings.no_new_privileges = 1;
		return 0;
	case PR_GET_NO_NEW_PRIVS:
		return first || second || third || fourth ? -EINVAL
							  : (long)current->settings.no_new_privileges;
	default:
		return -EINVAL;
	}
}

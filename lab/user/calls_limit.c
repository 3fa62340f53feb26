/* Limits: kept and told. None is enforced, except that there are no more descriptors than DESCRIPTORS. */
#include "mm/mm.h"
#include "user/calls.h"
#include "user/files.h"
#include "user/thread.h"
#include "user/user.h"

#define UNLIMITED     (~0ull)
#define UNLIMITED_32  (~0u)
#define RLIMIT_STACK  3
#define RLIMIT_NOFILE 7
#define STACK_LIMIT   (8ull << 20)

void limits_reset(struct limits *limits)
{
	for (unsigned i = 0; i < LIMITS; i++)
		limits->of[i] = (struct limit){UNLIMITED, UNLIMITED};
	limits->of[RLIMIT_STACK].soft = STACK_LIMIT;
	limits->of[RLIMIT_NOFILE] = (struct limit){DESCRIPTORS, DESCRIPTORS};
}

static long set_limit(uint32_t resource, struct limit wanted)
{
	if (resource >= LIMITS || wanted.soft > wanted.hard)
		return -EINVAL;
	if (resource == RLIMIT_NOFILE && wanted.hard > DESCRIPTORS)
		return -EPERM;
	current->limits.of[resource] = wanted;
	return 0;
}

long call_prlimit(word process, word resource, word new_limit, word old_limit)
{
	struct limit wanted, old;

	if (new_limit && user_read(&wanted, new_limit, sizeof(wanted)))
		return -EFAULT;
	if ((uint32_t)process && (uint32_t)process != current->id)
		return -ESRCH;
	if ((uint32_t)resource >= LIMITS)
		return -EINVAL;
	old = current->limits.of[(uint32_t)resource];
	const long problem = new_limit ? set_limit((uint32_t)resource, wanted) : 0;
	if (problem)
		return problem;
	return old_limit ? user_put_16(old_limit, old.soft, old.hard) : 0;
}

long call_getrlimit(word resource, word to)
{
	if ((uint32_t)resource >= LIMITS)
		return -EINVAL;
	return user_put_16(to, current->limits.of[(uint32_t)resource].soft,
			   current->limits.of[(uint32_t)resource].hard);
}

static uint32_t narrow(uint64_t limit)
{
	return limit > UNLIMITED_32 ? UNLIMITED_32 : (uint32_t)limit;
}

long call_getrlimit_32(word resource, word to)
{
	if ((uint32_t)resource >= LIMITS)
		return -EINVAL;
	const struct limit *limit = &current->limits.of[(uint32_t)resource];
	return user_put_8(to, narrow(limit->soft) | (uint64_t)narrow(limit->hard) << 32);
}

long call_setrlimit(word resource, word from)
{
	struct limit wanted;

	return user_read(&wanted, from, sizeof(wanted)) ? -EFAULT : set_limit((uint32_t)resource, wanted);
}

static uint64_t wide(uint32_t limit)
{
	return limit == UNLIMITED_32 ? UNLIMITED : limit;
}

long call_setrlimit_32(word resource, word from)
{
	uint32_t words[2];

	if (user_read(words, from, sizeof(words)))
		return -EFAULT;
	return set_limit((uint32_t)resource, (struct limit){wide(words[0]), wide(words[1])});
}

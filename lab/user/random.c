/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
#include "user/user.h"

static uint64_t state;

void random_seed(uint64_t seed)
{
	state = seed;
}

uint64_t random_mixed(uint64_t number)
{
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return number ^ number >> 31;
}

uint64_t random_next(void)
{
	state += RANDOM_STEP;
	return random_mixed(state);
}

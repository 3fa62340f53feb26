/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
#include "user/user.h"

static uint64_t state;

void random_seed(uint64_t seed)
{
	state = seed;
}

uint64_t random_next(void)
{
	uint64_t mixed = state += 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

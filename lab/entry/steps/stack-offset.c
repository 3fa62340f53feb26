/* What stack-offset=prandom draws of (prandom.inc). */
#include "entry/steps/steps.h"
#include "user/user.h"

extern uint32_t stack_offset_state[4];

/*
 * As prandom_seed_full_state() of Linux: a word that is less than its least would stay 0 in all bits that count, and is raised. Linux then throws ten
 * numbers away, so that weak seeds are mixed; these are mixed already. They tell nothing of what programs are given (random.c).
 */
void stack_offset_seed(uint64_t seed)
{
	static const uint32_t least[] = {2, 8, 16, 128};
	uint64_t number = random_mixed(~seed);

	for (unsigned place = 0; place < sizeof(least) / sizeof(least[0]); place++) {
		number += RANDOM_STEP;
		const uint32_t word = (uint32_t)random_mixed(number);
		stack_offset_state[place] = word < least[place] ? word + least[place] : word;
	}
}

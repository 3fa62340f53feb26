/* The canary (canary.S). */
#include "entry/steps/steps.h"
#include "mm/mm.h"
#include "user/user.h"

_Noreturn void canary_is_gone(void);
extern uint64_t canary;

/* As Linux's, its lowest byte is 0: whoever copies text over it has to stop there. */
void canary_draw(void)
{
	canary = random_mixed(rdtsc()) << 8;
}

_Noreturn void canary_is_gone(void)
{
	panic("a service has written over the canary above its frame");
}

/* What becomes of a program that makes a call which the filter refuses (filter.S): SIGSYS, as SECCOMP_RET_KILL_PROCESS. */
#include "entry/steps/steps.h"
#include "user/user.h"

#define SIGSYS 31

_Noreturn void filter_refuses(void);

_Noreturn void filter_refuses(void)
{
	program_ends((struct end){LAB_END_FAULT, {SIGSYS}});
}

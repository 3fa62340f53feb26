/* What there is to do when a flag of the current thread says so (work.S). */
#include "entry/layout.h"
#include "entry/steps/steps.h"
#include "serial/serial.h"
#include "user/thread.h"
#include "user/user.h"

_Static_assert(offsetof(struct thread, call_work) == THREAD_CALL_WORK, "work.S");
_Static_assert(offsetof(struct thread, work) == THREAD_WORK, "work.S");

void work_on_the_way_in(void);
void work_on_the_way_out(void);

/* Nothing in this kernel wants to look at calls; a test makes it. */
void work_on_the_way_in(void)
{
	current->call_work &= ~(uint32_t)WORK_CALL_IN;
	log_line("work on the way in of a call");
}

void work_on_the_way_out(void)
{
	if (current->call_work & WORK_CALL_OUT) {
		current->call_work &= ~(uint32_t)WORK_CALL_OUT;
		log_line("work on the way out of a call");
	}
	if (current->work & WORK_TIME) {
		current->work &= ~(uint32_t)WORK_TIME;
		program_may_be_runaway();
	}
}

/* A tick has come while a program ran, or a path. */
void work_time_is_up(void)
{
	current->work |= WORK_TIME;
}

/*
 * Waiting: a thread that waits is not run until somebody ends its wait, or its time is over. Time is looked at when a thread waits or
 * yields. When all wait and none for a time, nobody could ever go on, and the program ends.
 */
#include "mach/task.h"
#include "mach/thread.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define NANOSECONDS_A_MILLISECOND 1000000ul
#define SIGKILL			  9

static uint64_t tickets;

/* Of a clock that there is also where the TSC's frequency is unknown (a tick is a nanosecond then), and that no long wait overruns. */
static uint64_t now(void)
{
	struct time_value time;

	clock_read(CLOCK_PROCESS_CPU, &time);
	return time.seconds * NANOSECONDS_A_SECOND + time.nanoseconds;
}

void wait_ends(struct thread *thread, uint32_t result)
{
	thread->mach.waits = 0;
	thread->mach.result = result;
	thread->is_runnable = 1;
}

/* The soonest end of those that wait for one, after those that are over have gone on; 0: there is none. */
static uint64_t end_waits(void)
{
	const uint64_t time = now();
	uint64_t soonest = 0;

	for (unsigned i = 0; i < threads_count(); i++) {
		struct thread *const thread = thread_by_number(i);
		const struct mach_thread *const mach = &thread->mach;
		if (!mach->waits || !mach->has_end)
			continue;
		if (mach->end <= time)
			wait_ends(thread, mach->result);
		else if (!soonest || mach->end < soonest)
			soonest = mach->end;
	}
	return soonest;
}

/* Without an APIC no tick updates the other clocks, which are right for some minutes only. */
static void rest_until(uint64_t end)
{
	if (end > now() + time_memory.page.coarse_resolution)
		time_rest();
	program_may_be_runaway();
	clock_update();
	mach_time_update();
}

static _Noreturn void is_stuck(void)
{
	log_line("every thread waits for a message, and none is left to send one: the program ends");
	program_ends((struct end){LAB_END_FAULT, {SIGKILL}});
}

uint32_t wait_on(struct port *port, uint32_t over)
{
	struct mach_thread *const mach = &current->mach;

	mach->waits = 1;
	mach->waits_for = port;
	mach->result = over;
	current->is_runnable = 0;
	while (mach->waits) {
		const uint64_t soonest = end_waits();
		struct thread *const next = thread_next();

		if (!mach->waits)
			break;
		if (next)
			thread_run(next);
		else if (soonest)
			rest_until(soonest);
		else
			is_stuck();
	}
	mach->waits_for = 0;
	return mach->result;
}

uint32_t wait_for(struct port *port, int is_sender, int has_end, uint32_t milliseconds, uint32_t over)
{
	struct mach_thread *const mach = &current->mach;

	mach->is_sender = is_sender;
	mach->has_end = has_end;
	mach->end = now() + milliseconds * NANOSECONDS_A_MILLISECOND;
	mach->ticket = tickets++;
	return wait_on(port, over);
}

/* Of those that wait so for a port, who has waited longest. */
static struct thread *oldest(const struct port *port, int is_sender)
{
	struct thread *found = 0;

	for (unsigned i = 0; i < threads_count(); i++) {
		struct thread *const thread = thread_by_number(i);
		const struct mach_thread *const mach = &thread->mach;
		if (mach->waits && mach->waits_for == port && mach->is_sender == is_sender &&
		    (!found || mach->ticket < found->mach.ticket))
			found = thread;
	}
	return found;
}

struct thread *wait_oldest_sender(const struct port *port)
{
	return oldest(port, 1);
}

struct thread *wait_receiver(const struct port *port)
{
	return oldest(port, 0);
}

void wait_receivers_end(const struct port *port)
{
	struct thread *receiver;

	while ((receiver = wait_receiver(port)))
		wait_ends(receiver, RCV_PORT_DIED);
}

int wait_yield(void)
{
	end_waits();
	struct thread *const next = thread_next();
	if (next)
		thread_run(next);
	return next != 0;
}

struct thread *wait_next(int *is_stuck)
{
	*is_stuck = 0;
	for (;;) {
		const uint64_t soonest = end_waits();
		struct thread *const next = thread_next();

		if (next)
			return next;
		for (unsigned i = 0; i < threads_count(); i++)
			*is_stuck |= thread_by_number(i)->mach.waits;
		if (!soonest)
			return 0;
		*is_stuck = 0;
		rest_until(soonest);
	}
}

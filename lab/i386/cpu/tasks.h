/*
 * Hardware tasks that serve calls (SDM vol. 3, chapter 7; APM vol. 2, chapter 12): a gate leads from the TSS of programs to a TSS of the
 * kernel's, and iret or a far jump back. Programs run with TR at the TSS of programs alone.
 *
 * A service may end the program, or let another go on, while TR names the kernel's task. Then the kernel leaves the task by ltr, and the
 * task begins anew for whoever calls it next; a thread that goes on has TR, the TSSs and their busy flags put back.
 */
#pragma once

#include "cpu/registers.h"
#include "cpu/tss.h"

#define TASKS 3 /* of the kernel's, but for the one of 16 bits */

/* What the TSSs held when a thread was left; only if a task ran. */
struct tasks_kept {
	uint32_t running;  /* TR */
	uint32_t are_busy; /* a bit for each TSS */
	struct tss program, tasks[TASKS];
	struct tss_16 task_16;
};

/* Points the gates at the tasks, and the tasks at the beginnings of their paths. */
void tasks_point(void);
/* The stack that each task of the current thread begins with; CR3. */
void tasks_set_stack(word top);
void tasks_set_tables(word cr3);

/* Leaves the tasks that serve a thread, and goes on in them. Interrupts are off. Few threads are left in a task. */
void tasks_leave(struct tasks_kept *kept);
void tasks_resume(const struct tasks_kept *kept);

static inline void tasks_save(struct tasks_kept *kept)
{
	__asm__ volatile("str %0" : "=r"(kept->running));
	if (kept->running != SELECTOR_TSS)
		tasks_leave(kept);
}

static inline void tasks_load(const struct tasks_kept *kept)
{
	if (kept->running != SELECTOR_TSS)
		tasks_resume(kept);
}

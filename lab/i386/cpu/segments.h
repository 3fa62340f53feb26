/*
 * The segment registers of a program, while another runs: descriptors of thread-local storage, and selectors. DS and ES are on its stack in
 * the kernel, or in the TSS of programs, and bases come from descriptors alone. TR may name a task of the kernel's that serves a call.
 * Inlined: what a switch of threads executes is counted (docs/mach.md).
 */
#pragma once

#include "cpu/cpu.h"
#include "cpu/tasks.h"
#include "entry/v86_thread.h"

#include <stdint.h>

struct segments {
	uint64_t tls[TLS_ENTRIES];
	uint16_t fs, gs;
	struct v86 v86; /* in virtual-8086 mode, fs and gs are on its stack in the kernel, too */
	struct tasks_kept tasks;
};

/* Of a program that begins. */
static inline void segments_begin(struct segments *segments)
{
	segments->fs = segments->gs = 0;
	segments->tasks.running = SELECTOR_TSS;
}

static inline void segments_save(struct segments *segments)
{
	__asm__ volatile("mov %%fs, %0; mov %%gs, %1" : "=m"(segments->fs), "=m"(segments->gs));
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		segments->tls[i] = tables_tls(i);
	if (segments->v86.how != V86_OFF)
		v86_point(V86_OFF);
	tasks_save(&segments->tasks);
}

/* Each selector was in use with these descriptors, so none of them faults (lab/cpu/segments.h). The LDT is the same for all. */
static inline void segments_load(const struct segments *segments)
{
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		tables_set_tls(i, segments->tls[i]);
	__asm__ volatile("mov %0, %%fs; mov %1, %%gs" : : "m"(segments->fs), "m"(segments->gs) : "memory");
	if (segments->v86.how != V86_OFF)
		v86_point(segments->v86.how);
	tasks_load(&segments->tasks);
}

/* segments.c: of the current one. */
uint64_t fs_base(void);
/* limits.c: where all have limits, cuts a program's own at the end of its addresses, and puts it into its block; 0 where that cannot be. */
int limits_fit(uint64_t *descriptor);

/*
 * The segment registers of a program, while another runs: descriptors of thread-local storage, selectors, and bases that no descriptor has.
 * Inlined: what a switch of threads executes is counted (docs/mach.md).
 */
#pragma once

#include "cpu/cpu.h"
#include "entry/steps/steps.h"

#include <stddef.h>
#include <stdint.h>

struct segments {
	uint64_t fs_base, gs_base, tls[TLS_ENTRIES];
	uint16_t ds, es, fs, gs;
};

/* Of a program that begins. */
static inline void segments_begin(struct segments *segments)
{
	segments->ds = segments->es = SELECTOR_USER_DATA;
}

static inline uint64_t fs_base(void)
{
	return rdmsr(MSR_FS_BASE);
}

/* A base cannot be told from its selector: 64-bit programs set it apart. */
static inline void segments_save(struct segments *segments)
{
	__asm__ volatile("mov %%ds, %0; mov %%es, %1; mov %%fs, %2; mov %%gs, %3"
			 : "=m"(segments->ds), "=m"(segments->es), "=m"(segments->fs), "=m"(segments->gs));
	segments->fs_base = fs_base();
	segments->gs_base = gs_base();
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		segments->tls[i] = tables_tls(i);
}

/*
 * Each selector was in use with these descriptors (set_thread_area loads a segment anew when it changes its descriptor), so none of
 * them faults. Loading FS and GS changes their bases, which therefore come last. The LDT is the same for all.
 */
static inline void segments_load(const struct segments *segments)
{
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		tables_set_tls(i, segments->tls[i]);
	/* One operand: with four, gcc keeps their address in a register of its own. */
	__asm__ volatile("mov %c1+%0, %%ds; mov %c2+%0, %%es; mov %c3+%0, %%fs; mov %c4+%0, %%gs"
			 :
			 : "m"(*segments), "i"(offsetof(struct segments, ds)),
			   "i"(offsetof(struct segments, es)), "i"(offsetof(struct segments, fs)),
			   "i"(offsetof(struct segments, gs))
			 : "memory");
	wrmsr(MSR_FS_BASE, segments->fs_base);
	gs_begin(segments->gs_base);
}

/* In long mode the processor checks no limits. */
static inline int limits_fit(const uint64_t *descriptor)
{
	(void)descriptor;
	return 1;
}

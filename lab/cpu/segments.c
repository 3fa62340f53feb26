/* Segment registers: descriptors of thread-local storage, selectors, and bases that no descriptor has. */
#include "cpu/segments.h"
#include "cpu/cpu.h"
#include "entry/steps/steps.h"

void segments_begin(struct segments *segments)
{
	segments->ds = segments->es = SELECTOR_USER_DATA;
}

uint64_t fs_base(void)
{
	return rdmsr(MSR_FS_BASE);
}

/* A base cannot be told from its selector: 64-bit programs set it apart. */
void segments_save(struct segments *segments)
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
void segments_load(const struct segments *segments)
{
	for (unsigned i = 0; i < TLS_ENTRIES; i++)
		tables_set_tls(i, segments->tls[i]);
	__asm__ volatile("mov %0, %%ds; mov %1, %%es; mov %2, %%fs; mov %3, %%gs"
			 :
			 : "m"(segments->ds), "m"(segments->es), "m"(segments->fs), "m"(segments->gs)
			 : "memory");
	wrmsr(MSR_FS_BASE, segments->fs_base);
	gs_begin(segments->gs_base);
}

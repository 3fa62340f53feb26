/* The kernel's clocks, on the TSC. */
#pragma once

#include "time/estimate.h"
#include "time/time_page.h"

#define CLOCK_PROCESS_CPU 2 /* not in the page */

/* The page that programs see. */
extern union time_memory {
	struct time_page page;
	uint8_t bytes[4096];
} time_memory;

void clock_init(uint64_t seconds, uint64_t hertz); /* CLOCK_REALTIME now, frequency of the TSC */
void clock_set_resolution(uint64_t ticks);	   /* of the coarse clocks: from one update to the next */
void clock_update(void);			   /* moves the bases to now */
/* A copy of the page that clock_update keeps, too; null: there is none. */
void clock_copy_to(void *page);
void clock_program_starts(void); /* CPU time is counted from now */
/* A clock's time by id, as clock_gettime has it; 0 when there is no such clock. */
int clock_read(uint32_t id, struct time_value *out);
uint32_t clock_resolution(uint32_t id);
uint64_t clock_program_ticks(void); /* since clock_program_starts */

/* frequency.c: of the TSC. Told 0, it asks CPUID and timers, and logs what cannot be trusted. */
struct tsc find_tsc_frequency(uint64_t told, uint16_t pm_timer);
int tsc_is_invariant(void);

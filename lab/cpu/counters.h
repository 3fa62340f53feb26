/* What the processor counts while a program runs; and which microcode it has. */
#pragma once

#include <stdint.h>

void counters_find(void);
/* Right before a program's first instruction. */
void counters_start(void);
/* At its first output, and at its end: only the first call counts. */
void counters_stop(void);
/* What COUNTER_* says of the last program; 0 when the processor does not have it. Until counters_report is called. */
int counters_value(unsigned counter, uint64_t *value);
/* Sends RECORD_LAB_COUNTERS for the run of this number, where the processor has any counter. */
void counters_report(uint64_t number);

/* 0: unknown. */
uint64_t microcode_revision(void);

/* A periodic interrupt while a program runs. */
#pragma once

#include <stdint.h>

void tick_init(void);
void tick_set(uint64_t period); /* in ticks of the TSC */
void tick_restart(void);	/* a whole period from now on */
void tick_stop(void);
void tick_done(void); /* at the end of its handler */

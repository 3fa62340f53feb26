/* A periodic interrupt while a program runs. */
#pragma once

#include <stdint.h>

void tick_init(void);
void tick_set(uint64_t period); /* in ticks of the TSC */
void tick_restart(void);	/* a whole period from now on */
/* After a tick in C code, which cannot end a program: the next comes at another moment, lest all come in C code. */
void tick_shift(void);
void tick_stop(void);
void tick_done(void); /* at the end of its handler */

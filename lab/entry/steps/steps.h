/* What the steps of this folder have of C, for the rest of the kernel. */
#pragma once

#include "switches.h"

#include <stdint.h>

/* swapgs.c: the base that GS has in the program of the current thread, in a system call. */
uint64_t gs_base(void);
void gs_set_base(uint64_t base);
void gs_begin(
    uint64_t base); /* for a thread that goes on, with interrupts off; its selector has been loaded */
void gs_load(uint16_t selector); /* for the program; its base becomes the descriptor's */

/* ibt.c: configures tables and gates; the processor watches indirect branches, or not. */
void ibt_configure(void);
void ibt_watch(int is_on);

/*
 * shadow-stack.c: of the program of the current thread, in a system call. Configures the processor, for ibt, too; the pointer, of a program that has a
 * shadow stack; another program's, 0 if it has none; a return to this address: 0 if it is not the one on the shadow stack.
 */
void shadow_stack_configure(void);
uint64_t shadow_stack_pointer(void);
void shadow_stack_enter(uint64_t pointer);
int shadow_stack_return(uint64_t to);

/* stack-offset.c: what stack-offset=prandom draws from now on, which depends only on the seed. */
void stack_offset_seed(uint64_t seed);

/* canary.c: draws another. No program may be in a call. */
void canary_draw(void);

/* work.c: a program's time is to be looked at before it goes on (work=on). */
void work_time_is_up(void);

/* trace.c: shows the records since the last time in the log, as far as the rings have them. How many there were. */
uint64_t trace_show(void);
uint64_t audit_show(void);

/* filter.c: programs of which a call executes so many instructions; at most FILTER_MOST (of switches.h), 0: leaves them as they are. */
void filter_make(unsigned executed);

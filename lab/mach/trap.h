/* Traps: what the paths call (traps.c), and what does the work. */
#pragma once

#include "entry/layout.h"
#include "mach/interface.h"

#include <stdint.h>

typedef long trap(void);
trap *trap_function(unsigned number); /* what the paths call for a trap */

/* The work: arguments as words; KERN_*, MSG_SUCCESS and the like, or a name. trap_*.c, message_trap.c */
#define TRAP(number_, count_, function_) uint32_t do_##function_(const uint64_t *words);
#define ALSO(number_, function_)
#include "mach/traps.def"
#undef TRAP
#undef ALSO

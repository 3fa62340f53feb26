/* What of the task state segment a switch of threads changes. */
#pragma once

#include "word.h"

/* tables.c: as in the kernel for long mode (lab/cpu/tss.h). */
void tss_set_stacks(word top, word ring1_top);

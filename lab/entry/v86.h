/* Virtual-8086 mode, which protected mode has and long mode has not (SDM vol. 3, 20.1): lab/i386/entry/v86_thread.h. */
#pragma once

#include "cpu/frame.h"

/* Tries whether int is redirected there, before there are programs. */
void v86_find(void);
/* Serves an exception that belongs to the mode; 0 if it is another. */
int v86_serves(struct frame *frame);

/* Virtual-8086 mode, which long mode has not (SDM vol. 3, 20.1): see lab/i386/entry/v86.h. */
#pragma once

#include "cpu/frame.h"

static inline void v86_find(void)
{
}

static inline int v86_serves(struct frame *frame)
{
	(void)frame;
	return 0;
}

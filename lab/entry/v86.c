/* Long mode has no virtual-8086 mode: VM cannot be set (SDM vol. 3, 20.1). */
#include "entry/v86.h"

void v86_find(void)
{
}

int v86_serves(struct frame *frame)
{
	(void)frame;
	return 0;
}

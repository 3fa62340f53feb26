/* What the kernel is to do, and the archive that it comes in. */
#pragma once

#include "user/user.h"

#define ARCHIVE_BLOCK 512 /* each file begins at a multiple of it */
/* archive.c: a file of a ustar archive; no bytes when there is none of that name. */
struct text archive_find(struct text archive, const char *name);

/* plan.c: the first lines, which are needed at boot; then all others. */
struct plan_header {
	uint64_t seed, seconds, hertz;
	int screen; /* show a table instead of sending records */
};
struct plan_header plan_open(struct text archive);
void plan_run(void);

/* A screen as rows and columns of letters, whatever is behind it. */
#pragma once

#include "boot/framebuffer.h"

struct screen {
	unsigned columns, rows; /* both 0: there is none */
};
extern struct screen screen;

/* Maps the screen and clears it. */
void screen_open(const struct framebuffer *framebuffer);
/* What is outside of the screen is dropped; what is not ASCII becomes a question mark. */
void screen_put(unsigned row, unsigned column, char letter);
void screen_clear(void);

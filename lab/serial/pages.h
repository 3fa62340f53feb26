/* Lines laid out on a screen: pages of columns, like a newspaper. */
#pragma once

#include "serial/console.h"

struct page_line {
	const char *text; /* stays where it is: headings are drawn again */
	uint32_t count;
};

/* Where the next row goes. */
struct place {
	unsigned page, column, row;
	struct page_line headings[CONSOLE_LEVELS];
};

#define PAGE_ALL UINT32_MAX /* each page in turn, as lines come */

/* Places a line, and draws it if it is on this page. Without a screen, nothing happens. */
void pages_add(struct place *place, struct page_line line, unsigned level, unsigned page);
/* Writes into the last row of the screen, which no page has. */
void pages_status(struct page_line line);

/* A line of text that is being composed; what does not fit is cut off. */
#pragma once

#include <stdarg.h>
#include <stdint.h>

#define LINE_LENGTH 512 /* a configuration of which most is not as by default */

struct line_buffer {
	char text[LINE_LENGTH];
	unsigned length;
};

void line_letter(struct line_buffer *line, char letter);
void line_text(struct line_buffer *line, const char *text);
void line_number(struct line_buffer *line, uint64_t number, unsigned base);
void line_blank_to(struct line_buffer *line, unsigned column);

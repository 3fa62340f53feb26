/* Text for a person at the machine, on screen and serial port, instead of the record stream. */
#pragma once

#include "boot/framebuffer.h"

#include <stdint.h>

/* The longest line of the table; on the screen, a longer one goes on in the next row. */
#define CONSOLE_COLUMNS 76

/* Headings: at its top, each column of the screen repeats the last one of each level; one of level 0 ends that of 1. */
#define CONSOLE_LEVELS 2
#define CONSOLE_TEXT   CONSOLE_LEVELS /* no heading */

/*
 * Until the plan has been read, a person at the machine is told in text, on the serial port and the screen, and a command by
 * records. Null while the screen is not known.
 */
void console_prepare(int is_command, const struct framebuffer *screen);
int console_is_for_command(void);
int console_is_text(void);
/* The plan has been read: there will be records, or text and nothing else. */
void console_close(void);
void console_open(void);
int console_is_open(void);
/* A line, without its end. */
void console_line(const char *text, uint32_t count, unsigned level);
/* Shows all of it, one page after the other, for ever. `hertz` is the TSC's, 0 if unknown. */
_Noreturn void console_end(uint64_t hertz);

/* Text for a person at the machine, on screen and serial port, instead of the record stream. */
#pragma once

#include <stdint.h>

void console_open(void); /* from here on nothing else is written to the serial port */
int console_is_open(void);
void console_write(const char *text, uint64_t count);

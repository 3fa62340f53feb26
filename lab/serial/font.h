/* Letters for screens that have pixels alone. */
#pragma once

#include <stdint.h>

#define FONT_COLUMNS 8
#define FONT_ROWS    16
#define FONT_FIRST   ' '
#define FONT_LETTERS 95 /* to '~' */

/* A byte for each row from the top, its highest bit on the left. */
extern const uint8_t font[FONT_LETTERS][FONT_ROWS];

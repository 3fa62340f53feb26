/* limits.c: the switch `segments`. */
#pragma once

#include <stdint.h>

/* Gives the segments of programs their limits. */
void limits_configure(void);

/* Images that somebody else has mapped: shared objects that nothing relocates, as the page of the device `entry` is. */
#pragma once

#include <stdint.h>

/* The address of a dynamic symbol in an image of so many bytes; null when it has none of that name, or is no image of the program's width. */
void *image_find(const void *start, uintptr_t bytes, const char *symbol);

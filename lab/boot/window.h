/* Memory outside of the kernel, while the boot page tables are in use. */
#pragma once

#include <stdint.h>

/*
 * What a boot loader or firmware says to be in memory there, to be read until the next call. Null when it is larger than
 * the window or not below 4 GiB.
 */
const void *window_to(uint64_t physical, uint64_t bytes);

/* The screen has a window of its own, of so many bytes, uncached; null when it is larger. */
#define WINDOW_SCREEN (16ul << 20)
volatile void *window_to_screen(uint64_t physical, uint64_t bytes);
int window_is_there(void); /* the boot page tables are in use */

/* executes.inc in 32-bit code. */
#include "machine32.inc"

#define NR_MMAP 192
#define NR_EXIT 1

#include "executes.inc"

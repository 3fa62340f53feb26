/* executes.inc in 64-bit code. */
#include "machine64.inc"

#define NR_MMAP 9
#define NR_EXIT 60

#include "executes.inc"

/* What a register holds: an address, a size, an argument of a call. 64 bits wide in long mode, 32 in protected mode (lab/i386). */
#pragma once

typedef unsigned long word;

#define WORD_BITS ((int)(8 * sizeof(word)))

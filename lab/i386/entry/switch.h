/* The stack of a thread that has not begun, as thread_switch finds it (switch.S). */
#pragma once

#include "cpu/cpu.h"

extern const uint8_t thread_begin[];

/* What thread_switch pops. */
struct switch_frame {
	word flags, di, si, bp, bx, ip;
};

#define FLAGS_ONE 2 /* a bit that is always set */

/* Prepares the stack with this top for a thread that begins with these registers; its stack pointer. */
static inline word switch_prepare(word top, const struct frame *start)
{
	struct switch_frame *const frame = (struct switch_frame *)top - 1;

	*frame = (struct switch_frame){.flags = FLAGS_ONE, .bx = (word)start, .ip = (word)thread_begin};
	return (word)frame;
}

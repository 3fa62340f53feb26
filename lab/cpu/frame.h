/* The registers of a program, where an exception has interrupted it. */
#pragma once

#include <stdint.h>

/* What an exception leaves: pushed by entry/exception.S, then by its stub, then by the processor. */
struct frame {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	uint64_t vector, error;
	uint64_t ip, cs, flags, sp, ss;
};

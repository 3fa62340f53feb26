/* The registers of a program, where an exception has interrupted it. */
#pragma once

#include "word.h"

/* Addresses of the general registers, in the order of their numbers in instructions. */
#define FRAME_REGISTERS(frame)                                                                               \
	&(frame)->ax, &(frame)->cx, &(frame)->dx, &(frame)->bx, &(frame)->sp, &(frame)->bp, &(frame)->si,    \
	    &(frame)->di, &(frame)->r8, &(frame)->r9, &(frame)->r10, &(frame)->r11, &(frame)->r12,           \
	    &(frame)->r13, &(frame)->r14, &(frame)->r15

/* Of a program that begins: what a frame has of segments besides code and stack. */
#define FRAME_SEGMENTS

/* What an exception leaves: pushed by entry/exception.S, then by its stub, then by the processor. */
struct frame {
	word r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	word vector, error;
	word ip, cs, flags, sp, ss;
};

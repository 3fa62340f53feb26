/*
 * The registers of a program, where an exception has interrupted it. Of one that has interrupted the kernel, the processor has pushed
 * neither ss nor sp.
 */
#pragma once

#include "word.h"

struct frame {
	word bx, cx, dx, si, di, bp, ax, es, ds;
	word vector, error;
	word ip, cs, flags, sp, ss;
};

/* Addresses of the general registers, in the order of their numbers in instructions. */
#define FRAME_REGISTERS(frame)                                                                               \
	&(frame)->ax, &(frame)->cx, &(frame)->dx, &(frame)->bx, &(frame)->sp, &(frame)->bp, &(frame)->si,    \
	    &(frame)->di

/* Of a program that begins: what a frame has of segments besides code and stack. */
#define FRAME_SEGMENTS .ds = SELECTOR_USER_DATA, .es = SELECTOR_USER_DATA,

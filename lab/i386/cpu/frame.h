/*
 * The registers of a program, where an exception has interrupted it. Of one that has interrupted the kernel, the processor has pushed
 * neither ss nor sp; of one in virtual-8086 mode, the segment registers as well, above all others, and ds and es here are null (SDM vol. 3,
 * 20.3.1.1). What lies there otherwise is no frame's: the stack leaves room for it (ENTRY_STACK_PADDING).
 */
#pragma once

#include "word.h"

struct frame {
	word bx, cx, dx, si, di, bp, ax, es, ds;
	word vector, error;
	word ip, cs, flags, sp, ss;
	word v86_es, v86_ds, v86_fs, v86_gs;
};

/* Addresses of the general registers, in the order of their numbers in instructions. */
#define FRAME_REGISTERS(frame)                                                                               \
	&(frame)->ax, &(frame)->cx, &(frame)->dx, &(frame)->bx, &(frame)->sp, &(frame)->bp, &(frame)->si,    \
	    &(frame)->di

/* Of a program that begins: what a frame has of segments besides code and stack. */
#define FRAME_SEGMENTS .ds = SELECTOR_USER_DATA, .es = SELECTOR_USER_DATA,

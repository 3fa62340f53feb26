/*
 * Virtual-8086 mode (SDM vol. 3, 20; APM vol. 2, 8.8): how a program gets there and back, and the monitor of what it may not do itself.
 *
 * VECTOR_V86 (abi/lab.h) is the way in and out. From 32-bit code, it is the iret with VM by which ring 0 alone enters the mode: on the program's
 * stack are the nine words that such an iret pops, eip, cs, eflags, esp, ss, es, ds, fs, gs. General registers go along as they are. The kernel
 * takes of the flags what a program may choose. From the mode itself, it leads back behind the instruction by which it was entered, with
 * the stack pointer, flags and segments of that moment, and with the general registers of this one.
 *
 * A program that asks for VIF in these flags gets CR4.VME as well, where the processor has it: its cli, sti, pushf, popf are then the processor's,
 * and so is int VECTOR_V86_REDIRECTED, which takes the 8086's own table.
 */
#pragma once

#include "cpu/frame.h"
#include "word.h"

#include <stdint.h>

#define V86_OFF	       0
#define V86_ON	       1
#define V86_REDIRECTED 2

/* Of a thread in the mode: what it comes back to. */
struct v86 {
	int how;	    /* V86_* */
	int has_interrupts; /* IF as it sees it, without CR4.VME */
	struct frame caller;
	uint16_t fs, gs; /* caller's */
};

/* Points what is the processor's at the mode, or at 32-bit programs. */
void v86_point(int how);

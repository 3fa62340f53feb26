/*
 * Rings 1 and 2, which programs reach by call gates alone (rings.S).
 *
 * QEMU's TCG goes through a 64-bit gate into ring 1 with a CS of ring 1, and with the privileges of ring 0: the call from there to the kernel
 * then changes no ring and no stack. Where that is so, the gates stay closed, and a program that names one gets #GP.
 */
#pragma once

#include <stdint.h>

/* Tries it, before there are programs. */
void rings_find(void);
/* Lets a driver in ring 1 try what it may do; three sets of tries: those that go through, #GP, #PF. 0 where there is none (driver.c). */
int driver_tries(uint64_t results[3]);
/* Points the gates at the paths, or closes them. */
void rings_point(void);

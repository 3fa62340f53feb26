/* ring.c: the test of ring 0, at boot, with every switch off. */
#pragma once

#include <stdint.h>

/* Fills in the LAB_BOOT_* words that the test is about. */
void ring_test(uint64_t *payload);
/* How many ticks may pass here while so many do on a processor: more where that is emulated, or leaving the guest is dear. */
uint64_t ring_slowed(uint64_t ticks);
/* A line for people about what it timed. */
void ring_say(const uint64_t *payload);

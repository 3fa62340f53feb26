/* ring.c: the test of ring 0, at boot, with every switch off. */
#pragma once

#include <stdint.h>

/* Fills in the LAB_BOOT_* words that the test is about. */
void ring_test(uint64_t *payload);
/* A line for people about what it timed. */
void ring_say(const uint64_t *payload);

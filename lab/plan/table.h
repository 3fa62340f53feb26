/* The table on the screen of a machine that boots an image. */
#pragma once

#include "user/user.h"

void table_title(void); /* the first line of all */
/* What the boot test found (LAB_BOOT_*): whether times mean anything here. */
void table_begin(const uint64_t *boot);
/*
 * Runs a probe and writes its line; before it one for the switches, where they have changed. Where the firmware interrupted the
 * probe, it is run again.
 */
struct end table_run(const struct start *start, struct end (*run)(const struct start *));
void table_collect(const uint8_t *bytes, uint64_t count); /* what a probe writes */
